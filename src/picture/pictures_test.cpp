#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/base64.h"
#include "picture/colour_map.h"
#include "picture/digit_font.h"
#include "picture/heat_map_image.h"
#include "picture/png.h"
#include "picture/scatter_image.h"

namespace assay::picture {
namespace {

using results::HeatMap;

double luminance(const Colour& colour) { return 0.2126 * colour.red + 0.7152 * colour.green + 0.0722 * colour.blue; }

std::string as_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(ColourMap, GetsLighterAllTheWay) {
  const std::vector<Colour> palette = dark_palette();
  ASSERT_EQ(palette.size(), kFirstOfRamp + kRampLength);
  for (size_t i = kFirstOfRamp + 8; i < palette.size(); i += 8) {
    EXPECT_GT(luminance(palette[i]), luminance(palette[i - 8])) << i;
  }
}

TEST(ColourMap, OnlyTheRampHasItsColours) {
  const std::vector<Colour> palette = dark_palette();
  for (size_t i = kFirstOfRamp; i < palette.size(); ++i) {
    EXPECT_NE(palette[i], palette[kNaN]);
    EXPECT_NE(palette[i], palette[kInfinite]);
  }
}

TEST(HeatMapImage, ColoursEachCell) {
  const float inf = std::numeric_limits<float>::infinity();
  const HeatMap map = {2, 3, {0, 1, 2, std::nanf(""), inf, HeatMap::kNoElement}};
  const Image image = heat_map_image(map, HeatScale::linear);
  EXPECT_EQ(image.pixels(),
            (std::vector<uint8_t>{colour_of(0), colour_of(0.5), colour_of(1), kNaN, kInfinite, kBackground}));
}

TEST(HeatMapImage, LogarithmicScaleStartsAtTheLeastNumber) {
  const HeatMap map = {1, 4, {0, 1e-4F, 1e-2F, 1}};
  const Image image = heat_map_image(map, HeatScale::logarithmic);
  EXPECT_EQ(image.pixels(), (std::vector<uint8_t>{colour_of(0), colour_of(0), colour_of(0.5), colour_of(1)}));
}

TEST(HeatMapImage, TakesWhatHasNoRange) {
  for (const HeatScale scale : {HeatScale::linear, HeatScale::logarithmic}) {
    EXPECT_EQ(heat_map_image({1, 1, {0}}, scale).pixels()[0], colour_of(0));
    EXPECT_EQ(heat_map_image({1, 2, {3, 3}}, scale).pixels()[0], colour_of(1));
    EXPECT_EQ(heat_map_image({1, 1, {std::nanf("")}}, scale).pixels()[0], kNaN);
  }
}

TEST(HeatMapImage, PictureEnlargesSmallMapsAndHasABar) {
  const Image image = heat_map_picture({1, 2, {0, 1}}, HeatScale::linear);
  EXPECT_EQ(image.width(), 480u);
  EXPECT_EQ(image.at({0, 0}), colour_of(0));
  EXPECT_EQ(image.at({479, 239}), colour_of(1));
  EXPECT_GT(image.height(), 240u);
}

TEST(Png, HasSignatureAndEnd) {
  const std::string file = as_text(png(Image(3, 2, dark_palette())));
  EXPECT_TRUE(file.starts_with("\x89PNG\r\n\x1a\n"));
  EXPECT_NE(file.find("IEND"), std::string::npos);
}

TEST(DigitFont, DrawsWithinThePicture) {
  Image image(8, 8, dark_palette());
  draw_text(image, {-3, -3}, "88 8?", {.colour = kInk, .scale = 3});
  EXPECT_EQ(text_width("10", 2), 22);
  EXPECT_EQ(text_width("", 2), 0);
  Image one(5, 7, dark_palette());
  draw_text(one, {0, 0}, "1", {.colour = kInk});
  EXPECT_EQ(one.at({2, 0}), kInk);
  EXPECT_EQ(one.at({0, 0}), kBackground);
}

TEST(ScatterImage, DrawsDotsAndSurvivesEmptyAndHugeRanges) {
  results::Scatter scatter = {.columns = 10, .rows = 10, .magnitude = {0, 4}};
  scatter.absolute = {{0, 1}, std::vector<uint32_t>(100)};
  scatter.relative = {{0.1, 1}, std::vector<uint32_t>(100)};
  const auto dots = [](const Image& image) {
    return std::ranges::count_if(image.pixels(), [](uint8_t pixel) { return pixel >= kFirstOfRamp; });
  };
  EXPECT_EQ(dots(scatter_image(scatter)), 0);
  scatter.absolute.counts[55] = 3;
  EXPECT_GT(dots(scatter_image(scatter)), 0);
  scatter.magnitude = {0, std::numeric_limits<double>::max()};
  scatter.absolute.difference = {0, std::numeric_limits<double>::denorm_min()};
  scatter.relative.difference = {1e-307, 1e308};
  EXPECT_GT(dots(scatter_image(scatter)), 0);
}

TEST(Base64, EncodesAllLengths) {
  const auto encode = [](std::string_view text) { return base64_encode(std::as_bytes(std::span(text))); };
  EXPECT_EQ(encode(""), "");
  EXPECT_EQ(encode("f"), "Zg==");
  EXPECT_EQ(encode("fo"), "Zm8=");
  EXPECT_EQ(encode("foo"), "Zm9v");
  EXPECT_EQ(encode("foobar"), "Zm9vYmFy");
}

}  // namespace
}  // namespace assay::picture
