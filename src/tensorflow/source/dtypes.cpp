#include "tensorflow/source/dtypes.h"

#include <limits>
#include <string_view>

#include "tensor/shape.h"
#include "tensorflow/read.h"

namespace assay::tensorflow {
namespace {

tensor::DType dtype_named(std::string_view name) {
  if (name.starts_with('q')) name.remove_prefix(1);  // `qint8`
  if (name == "bool") return tensor::DType::boolean;
  return tensor::find_dtype(name).value_or(tensor::DType::undefined);
}

}  // namespace

tensor::DType tensorflow_dtype(uint64_t number) { return dtype_named(tensorflow_type(number)); }
tensor::DType tflite_dtype(uint64_t number) { return dtype_named(tflite_type(number)); }

uint64_t bytes_needed(tensor::DType dtype, std::span<const int64_t> dims) {
  constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  const std::optional<uint64_t> count = tensor::element_count(dims);
  return count ? tensor::packed_bytes(dtype, *count).value_or(kNone) : kNone;
}

}  // namespace assay::tensorflow
