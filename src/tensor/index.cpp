#include "tensor/index.h"

namespace assay::tensor {

std::vector<int64_t> index_of(uint64_t place, const Shape& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = static_cast<int64_t>(place % static_cast<uint64_t>(shape[i]));
    place /= static_cast<uint64_t>(shape[i]);
  }
  return index;
}

}  // namespace assay::tensor
