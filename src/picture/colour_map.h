#pragma once

#include <cstdint>
#include <vector>

#include "picture/image.h"

namespace assay::picture {

// The colours of a picture of numbers, as places in its palette: first what is no number, then the ramp.
inline constexpr uint8_t kBackground = 0;
inline constexpr uint8_t kInk = 1;    // of axes and digits
inline constexpr uint8_t kFaint = 2;  // of grid lines
inline constexpr uint8_t kNaN = 3;
inline constexpr uint8_t kInfinite = 4;
inline constexpr uint8_t kFirstOfRamp = 5;
inline constexpr uint32_t kRampLength = 251;

// Dark to light in steps that look equal: all 256 colours of a picture on a dark ground.
std::vector<Colour> dark_palette();
// The colours of a picture on white, whose ramp goes from light to dark.
std::vector<Colour> light_palette();

// `level` from 0 to 1.
uint8_t colour_of(double level);

}  // namespace assay::picture
