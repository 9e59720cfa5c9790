#pragma once

#include <cstddef>
#include <vector>

#include "picture/image.h"

namespace assay::picture {

// The picture as a PNG file. Error (limit) if it is too large for one.
std::vector<std::byte> png(const Image& image);

}  // namespace assay::picture
