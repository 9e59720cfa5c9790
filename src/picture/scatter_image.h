#pragma once

#include "picture/image.h"
#include "results/scatter.h"

namespace assay::picture {

// Two plots above each other: absolute differences, and relative ones on a logarithmic axis, over the magnitude of the
// reference. The more elements lie on a dot, the darker it is.
Image scatter_image(const results::Scatter& scatter);

}  // namespace assay::picture
