#include "picture/colour_map.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace assay::picture {
namespace {

// A colour in the space OKLab (B. Ottosson, 2020), where equal distances look equal.
struct Lab {
  double lightness;
  double green_red;
  double blue_yellow;
};

// The lightness rises in equal steps from indigo over magenta and orange to pale yellow.
constexpr std::array kAnchors = {Lab{0.20, 0.015, -0.075}, Lab{0.39, 0.100, -0.110}, Lab{0.58, 0.175, 0.020},
                                 Lab{0.77, 0.085, 0.135}, Lab{0.96, -0.030, 0.090}};

Lab on_ramp(double level) {
  const double place = level * (kAnchors.size() - 1);
  const size_t index = std::min(static_cast<size_t>(place), kAnchors.size() - 2);
  const Lab& x = kAnchors[index];
  const Lab& y = kAnchors[index + 1];
  const double share = place - static_cast<double>(index);
  return {std::lerp(x.lightness, y.lightness, share), std::lerp(x.green_red, y.green_red, share),
          std::lerp(x.blue_yellow, y.blue_yellow, share)};
}

// Linear light to a byte of sRGB.
uint8_t encoded(double light) {
  const double clamped = std::clamp(light, 0.0, 1.0);
  const double value = clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * std::pow(clamped, 1 / 2.4) - 0.055;
  return static_cast<uint8_t>(std::lround(value * 255));
}

Colour to_colour(const Lab& lab) {
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lab.lightness + 0.3963377774 * lab.green_red + 0.2158037573 * lab.blue_yellow);
  const double m = cube(lab.lightness - 0.1055613458 * lab.green_red - 0.0638541728 * lab.blue_yellow);
  const double s = cube(lab.lightness - 0.0894841775 * lab.green_red - 1.2914855480 * lab.blue_yellow);
  return {encoded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          encoded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          encoded(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

void add_ramp(std::vector<Colour>& palette, double first, double last) {
  for (uint32_t i = 0; i < kRampLength; ++i) {
    palette.push_back(to_colour(on_ramp(std::lerp(first, last, static_cast<double>(i) / (kRampLength - 1)))));
  }
}

constexpr Colour kColourOfNaN = {0x2f, 0xd6, 0xc3};  // a turquoise and a green that the ramp does not have
constexpr Colour kColourOfInfinity = {0x4c, 0xb0, 0x4f};

}  // namespace

std::vector<Colour> dark_palette() {
  std::vector<Colour> palette = {
      {0x80, 0x86, 0x91}, {0x20, 0x24, 0x2b}, {0x6a, 0x70, 0x7a}, kColourOfNaN, kColourOfInfinity};
  add_ramp(palette, 0, 1);
  return palette;
}

std::vector<Colour> light_palette() {
  std::vector<Colour> palette = {
      {0xff, 0xff, 0xff}, {0x2b, 0x30, 0x38}, {0xe6, 0xe8, 0xec}, kColourOfNaN, kColourOfInfinity};
  add_ramp(palette, 0.86, 0.06);
  return palette;
}

uint8_t colour_of(double level) {
  return static_cast<uint8_t>(kFirstOfRamp + std::lround(std::clamp(level, 0.0, 1.0) * (kRampLength - 1)));
}

}  // namespace assay::picture
