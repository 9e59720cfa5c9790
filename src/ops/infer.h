#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ops/node.h"
#include "ops/type.h"

namespace assay::ops {

// Elements of an integer tensor as far as they are known.
struct Elements {
  tensor::Shape shape;
  std::vector<Dim> items;
};

// The known facts of one input or output.
struct Knowledge {
  Type type;
  const tensor::Tensor* constant = nullptr;  // set: this is its value, always
  std::optional<Elements> elements;          // of small integer tensors
};

class Infer;

// Types of the outputs of a body, given those of its inputs.
class BodyInference {
 public:
  virtual ~BodyInference() = default;
  virtual std::vector<Type> infer(ir::GraphId body, std::span<const Type> inputs) = 0;
};

// One node during inference. An operator's `infer` checks its rules (Error with code shape where inputs break one: rule
// and seen values, without the node's name, which the caller adds) and says what is known of the outputs. It must cope
// with inputs of which only the dtype, or nothing, is known. The same function runs before each evaluation, with all
// types concrete and every input tensor a constant: then it must find every dim that does not depend on computed data.
class Infer : public Node {
 public:
  Infer(const Node& node, DimSpace& space, std::span<const Knowledge> inputs, std::span<Knowledge> outputs,
        BodyInference* bodies)
      : Node(node), space_(space), inputs_(inputs), outputs_(outputs), bodies_(bodies) {}

  DimSpace& space() const { return space_; }

  uint32_t input_count() const { return static_cast<uint32_t>(inputs_.size()); }
  bool has(uint32_t input) const;  // given, not left out
  const Type& type(uint32_t input) const { return inputs_[input].type; }
  tensor::DType dtype(uint32_t input) const;  // undefined if not known, or not of a tensor
  bool is_ranked(uint32_t input) const;       // a tensor of known rank
  // True if the ranks of all given inputs are known.
  bool all_ranked() const;
  const Dims& dims(uint32_t input) const { return *inputs_[input].type.dims; }  // needs is_ranked
  int64_t rank(uint32_t input) const { return static_cast<int64_t>(dims(input).size()); }
  // Error unless the rank is `rank`, where it is known.
  void require_rank(uint32_t input, int64_t rank) const;
  // Error unless the input, where its shape is known, broadcasts to `dims` without changing them.
  void require_broadcasts_to(uint32_t input, std::span<const Dim> dims) const;
  const tensor::Tensor* constant(uint32_t input) const;
  // The elements of an integer input; items may be unknown dims. Empty if not even their number is known.
  std::optional<Elements> elements(uint32_t input) const;
  // The elements as numbers, if all are known.
  std::optional<std::vector<int64_t>> integers_of(uint32_t input) const;
  // The number of a tensor with one element; Error if it has another number of them.
  std::optional<int64_t> integer_of(uint32_t input) const;
  // The single number in a constant input of any numeric type.
  std::optional<double> number_of(uint32_t input) const;

  uint32_t output_count() const { return static_cast<uint32_t>(outputs_.size()); }
  bool wants(uint32_t output) const;  // there, and not left out
  // An output's dtype follows from the schema where that ties it to an input; else set it.
  void set_dims(uint32_t output, Dims dims);
  void set_dtype(uint32_t output, tensor::DType dtype);
  void set_type(uint32_t output, Type type);
  void set_elements(uint32_t output, Elements elements);
  const Knowledge& output(uint32_t index) const { return outputs_[index]; }

  std::vector<Type> infer_body(ir::GraphId body, std::span<const Type> inputs) const;

  // True if nothing but types of operands has been asked for.
  bool looked_at_types_alone() const { return looked_at_types_alone_; }

 private:
  DimSpace& space_;
  std::span<const Knowledge> inputs_;
  std::span<Knowledge> outputs_;
  BodyInference* bodies_;
  mutable bool looked_at_types_alone_ = true;
};

// Dims of the result of broadcasting; Error where two do not fit.
Dims broadcast(std::span<const Dim> a, std::span<const Dim> b);
// One dim where both must be the same: the better known; Error naming `what` where they differ.
Dim unify(const Dim& a, const Dim& b, std::string_view what);

// Rules that many operators share.
void infer_same_as_first(Infer& node);  // every output has the dims of input 0
void infer_broadcast(Infer& node);      // output 0 broadcasts all inputs

}  // namespace assay::ops
