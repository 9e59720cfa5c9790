#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/model.h"

namespace assay::surgery {

// A value as a user gives it: words that become numbers in the type that is asked for, or a tensor from a file.
struct GivenValue {
  std::vector<std::string> words;  // one, or the items of a list
  bool is_list = false;
  bool is_quoted = false;  // text, also where it looks like a number
  std::optional<tensor::Tensor> tensor;
};

// The value in one type, rounded once. Error (usage) for words that are no number of the type.
tensor::Tensor tensor_of(const GivenValue& value, tensor::DType dtype, tensor::Shape shape);
// The value as an attribute of this type; of `undefined` as what the words look like. Error (usage) if it is no such.
ir::Attribute attribute_of(ir::Model& model, ir::Symbol name, ir::AttributeType type, const GivenValue& value);

}  // namespace assay::surgery
