#pragma once

#include <map>
#include <string>
#include <vector>

#include "exec/session.h"

namespace assay::exec {

// The outputs of an execution that its caller has memory for.
class BoundOutputs {
 public:
  // Error (usage) for what is no output, or bytes that are not those of the type and shape.
  void bind(std::vector<OutputBuffer> outputs, const Signature& signature);
  const std::vector<OutputBuffer>& all() const { return outputs_; }
  // Null: that output has no memory of the caller.
  const OutputBuffer* find(std::string_view name) const;
  // The memory as a tensor, which borrows it.
  static tensor::Tensor tensor(const OutputBuffer& output);
  // Error (usage) if the value is not of the type and shape that its memory is for.
  static void check(const OutputBuffer& output, tensor::DType dtype, std::span<const int64_t> shape);
  // For backends that cannot write into foreign memory: copies the value there, if it is bound.
  tensor::Datum placed(std::string_view name, const tensor::Datum& value) const;

 private:
  std::vector<OutputBuffer> outputs_;
  std::map<std::string, size_t, std::less<>> places_;  // of outputs, by name
};

}  // namespace assay::exec
