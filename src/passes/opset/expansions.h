#pragma once

#include <string_view>

#include "passes/opset/adapters.h"

namespace assay::passes {

// An operator in terms of older ones, for versions before its first.
struct Expansion {
  std::string_view op;
  Adapt expand = nullptr;
};

// Null: there is none.
const Expansion* find_expansion(std::string_view op);

// One of each file.
std::span<const Expansion> function_expansions();
std::span<const Expansion> normalization_expansions();
std::span<const Expansion> attention_expansions();

// A draft that is written as a chain of older operators, of which the draft itself becomes the last.
class Spelling {
 public:
  explicit Spelling(Draft& draft) : draft_(draft), dtype_(draft.dtype(0)) {}

  // A reason for which nothing can be spelled: the type of the first operand is not known, or others want its further
  // results.
  Refusal find_obstacle() const;
  tensor::DType dtype() const { return dtype_; }
  DraftValue operand(size_t index) const { return draft_.operand(index); }
  DraftValue number(double value) { return draft_.add_scalar(dtype_, value); }
  DraftValue integers(const std::vector<int64_t>& values) { return draft_.add_integers(values); }
  DraftValue add(std::string_view op, std::vector<DraftValue> operands, std::vector<ir::Attribute> attributes = {});
  DraftValue cast(DraftValue value, tensor::DType dtype);
  // A reduction along axes, which stay with the length 1.
  DraftValue reduce(std::string_view op, DraftValue value, const std::vector<int64_t>& axes);
  ir::Attribute attribute(std::string_view name, int64_t value) const { return draft_.attribute(name, value); }
  ir::Attribute attribute(std::string_view name, const std::vector<int64_t>& values) const {
    return draft_.attribute(name, values);
  }
  // From here on, numbers and results are of this type.
  void compute_in(tensor::DType dtype) { dtype_ = dtype; }
  // The draft becomes this operator.
  void finish(std::string_view op, const std::vector<DraftValue>& operands,
              const std::vector<ir::Attribute>& attributes = {});

 private:
  Draft& draft_;
  tensor::DType dtype_;
};

}  // namespace assay::passes
