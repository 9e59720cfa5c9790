#include "formats/named_tensor.h"

#include "base/error.h"
#include "base/text.h"

namespace assay::formats {

const tensor::Tensor& tensor_to_save(const tensor::NamedDatum& value) {
  if (value.value.is_tensor()) return value.value.tensor();
  const std::string_view kind = value.value.is_sequence() ? "a sequence" : value.value.is_map() ? "a map" : "empty";
  fail(ErrorCode::unsupported, "`{}` is {}, only tensors can be saved", printable(value.name), kind);
}

}  // namespace assay::formats
