#pragma once

#include "results/heat_map.h"
#include "tensor/tensor.h"

namespace assay::compare {

struct PictureLimit {
  uint32_t rows = 1080;
  uint32_t columns = 1920;
};

// The differences of two tensors of one shape, streamed into a picture within the limit. Equal infinities differ by 0
// or by NaN. Error (unsupported) for strings. The result does not depend on the number of threads.
results::DifferenceMaps difference_maps(const tensor::Tensor& a, const tensor::Tensor& b, PictureLimit limit,
                                        bool infinities_equal = false);

// The picture with fewer cells, each the greatest of those it replaces.
results::HeatMap reduced(const results::HeatMap& map, PictureLimit limit);

}  // namespace assay::compare
