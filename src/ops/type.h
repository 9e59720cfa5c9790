#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ir/types.h"
#include "ops/dim.h"
#include "tensor/datum.h"

namespace assay::ops {

// The known type of a value. Default: nothing.
struct Type {
  bool known = false;
  ir::TypeKind kind = ir::TypeKind::tensor;
  tensor::DType dtype = tensor::DType::undefined;  // element type of tensors, key type of maps
  std::optional<Dims> dims;                        // of tensors; empty: not even the rank
  std::shared_ptr<const Type> element;             // of sequences, optionals and maps

  static Type tensor(tensor::DType dtype, std::optional<Dims> dims = std::nullopt);
  static Type sequence(Type element);
  static Type optional(Type element);
  static Type map(tensor::DType key, Type value);

  bool is_tensor() const { return known && kind == ir::TypeKind::tensor; }
  bool is_sequence() const { return known && kind == ir::TypeKind::sequence; }
  bool is_optional() const { return known && kind == ir::TypeKind::optional; }
  std::string text() const;  // `float32[2, batch]`
};

Type type_of(const tensor::Datum& datum);
// The type without its dims, and without those of its elements.
Type bare(const Type& type);

}  // namespace assay::ops
