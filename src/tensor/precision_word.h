#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "tensor/dtype.h"

namespace assay::tensor {

// The type in which a layer is to be computed, by the names of types and those that users know (`fp16`, `half`, `bf16`,
// `fp32`, `float`); nullopt: it is no floating type and not int8.
inline std::optional<DType> find_precision(std::string_view word) {
  const std::string lower = to_lower(word);
  if (lower == "fp16" || lower == "half") return DType::float16;
  if (lower == "bf16") return DType::bfloat16;
  if (lower == "fp32" || lower == "float") return DType::float32;
  const std::optional<DType> found = find_dtype(lower);
  return found && (is_floating(*found) || *found == DType::int8) ? found : std::nullopt;
}

}  // namespace assay::tensor
