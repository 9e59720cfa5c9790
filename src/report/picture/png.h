#pragma once

#include <cstddef>
#include <vector>

#include "report/picture/image.h"

namespace assay::report {

// The picture as a PNG file. Error (limit) if it is too large for one.
std::vector<std::byte> png(const Image& image);

}  // namespace assay::report
