#pragma once

#include <string_view>

#include "picture/image.h"

namespace assay::picture {

inline constexpr int64_t kGlyphWidth = 5;
inline constexpr int64_t kGlyphHeight = 7;

struct Pen {
  uint8_t colour = 0;
  int64_t scale = 1;  // pixels for each dot
};

int64_t text_width(std::string_view text, int64_t scale);
// Draws digits, `+-.%|` and lower-case letters, from the upper left corner; other characters are blanks.
void draw_text(Image& image, Point at, std::string_view text, Pen pen);

}  // namespace assay::picture
