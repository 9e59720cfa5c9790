#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/model.h"

namespace assay::exec {

// A dim as it was declared.
struct PortDim {
  std::optional<int64_t> size;  // none: open
  std::string text;             // `3`, `batch`, `?`
};

// A type as it was declared.
struct PortType {
  ir::TypeKind kind = ir::TypeKind::tensor;
  tensor::DType dtype = tensor::DType::undefined;  // of a tensor; undefined: not declared
  bool ranked = false;
  std::vector<PortDim> dims;
  std::vector<PortType> element;  // one, of an optional
};

// An input or output.
struct Port {
  std::string name;
  std::optional<PortType> type;  // none: not declared
  bool has_default = false;      // of an input: it need not be given
  bool is_shape = false;         // of an input: its elements decide shapes in the model
};

// Inputs and outputs of a session, of a model or of a plan that was built from one.
struct Signature {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
};

Signature signature_of(const ir::Model& model);
// Null if there is none of that name.
const Port* find_port(const std::vector<Port>& ports, std::string_view name);

}  // namespace assay::exec
