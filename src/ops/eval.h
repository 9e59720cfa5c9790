#pragma once

#include <span>
#include <vector>

#include "ops/node.h"
#include "ops/type.h"
#include "tensor/casts.h"
#include "tensor/datum.h"
#include "tensor/elements.h"

namespace assay::ops {

using tensor::Datum;
using tensor::DType;
using tensor::load_elements;
using tensor::Shape;
using tensor::Tensor;

// Services of a run for the evaluation of a node.
class BodyRunner {
 public:
  virtual ~BodyRunner() = default;
  virtual std::vector<Datum> run_body(ir::GraphId body, std::span<const Datum> inputs) = 0;
  // The types of the outputs of a body that is not run, as the inputs tell them; empty: nothing is known.
  virtual std::vector<Type> infer_body(ir::GraphId, std::span<const Datum> /*inputs*/) { return {}; }
  // The seed for a random node without a seed attribute; a different one each time it is asked.
  virtual uint64_t next_seed() = 0;
  virtual uint64_t max_steps() const = 0;  // of one Loop
};

// Choices within a node that another correct implementation may make otherwise.
struct Variation {
  double even_places = 0, odd_places = 0;  // Eval::place_shift, of even and of odd dims
  bool adds_floats = false;                // Eval::adder
  uint64_t code_draw = 0;                  // Eval::code_draw
};

// Adds numbers, each sum rounded to double, or to float32.
class Adder {
 public:
  explicit Adder(bool adds_floats = false) : adds_floats_(adds_floats) {}
  double operator()(double a, double b) const {
    return adds_floats_ ? static_cast<double>(static_cast<float>(a + b)) : a + b;
  }

 private:
  bool adds_floats_;
};

// One node during evaluation: inputs as data, outputs to set. infer() has run on the same inputs: its rules hold, and
// out_shape() and out_dtype() are what it found.
//
// Elements are computed in a carrier: double for floats, int64_t for signed and uint64_t for unsigned integers and
// booleans. Rounding to the output's type happens once, in store(). In wide mode (fp64) floating tensors are stored as
// float64 whatever their declared type; load and store do that by themselves.
class Eval : public Node {
 public:
  Eval(const Node& node, std::span<const Datum> inputs, std::span<const Type> types, std::span<Datum> outputs,
       BodyRunner& runner, bool is_wide, const Variation& variation = {})
      : Node(node),
        inputs_(inputs),
        types_(types),
        outputs_(outputs),
        runner_(runner),
        is_wide_(is_wide),
        variation_(variation) {}

  uint32_t input_count() const { return static_cast<uint32_t>(inputs_.size()); }
  bool has(uint32_t input) const;  // given, and not an empty optional
  const Datum& datum(uint32_t input) const { return inputs_[input]; }
  const Tensor& tensor_in(uint32_t input) const { return inputs_[input].tensor(); }
  const Shape& shape(uint32_t input) const { return tensor_in(input).shape(); }
  int64_t rank(uint32_t input) const { return static_cast<int64_t>(shape(input).size()); }
  uint64_t count(uint32_t input) const { return tensor_in(input).count(); }
  DType dtype(uint32_t input) const { return inputs_[input].declared(); }  // declared
  // All elements. C: double, int64_t, uint64_t (integers load into double too), std::complex<double>, std::string.
  template <typename C>
  std::vector<C> load(uint32_t input) const;
  // The only element of an input, or `otherwise` where the input is left out.
  template <typename C>
  C scalar(uint32_t input, C otherwise) const;
  std::vector<int64_t> integers_in(uint32_t input) const { return load<int64_t>(input); }  // integers of any type

  uint32_t output_count() const { return static_cast<uint32_t>(outputs_.size()); }
  bool wants(uint32_t output) const;
  DType out_dtype(uint32_t output) const { return types_[output].dtype; }
  const Type& out_type(uint32_t output) const { return types_[output]; }
  Shape out_shape(uint32_t output) const;  // needs every dim inferred
  uint64_t out_count(uint32_t output) const;
  // The type that an output's elements are stored in: float64 for floats in wide mode.
  DType stored(DType declared) const;
  // Rounds elements to the output's dtype; the shape is the inferred one, or `shape`.
  template <typename C>
  void store(uint32_t output, std::vector<C> elements);
  template <typename C>
  void store(uint32_t output, Shape shape, std::vector<C> elements);
  void set(uint32_t output, Datum value) { outputs_[output] = std::move(value); }
  // A tensor that was moved, not computed: the output's dtype is declared, elements stay as stored.
  void set_tensor(uint32_t output, Tensor value);

  bool is_wide() const { return is_wide_; }
  // The shift of computed places along a dim of a picture, of which the nearest element is taken, in parts of its size:
  // as roundings of other implementations may move them.
  double place_shift(size_t dim) const { return dim % 2 == 0 ? variation_.even_places : variation_.odd_places; }
  // The adder of long sums: in double, or as libraries add that go through float32 numbers in their order.
  Adder adder() const { return Adder(variation_.adds_floats && dtype(0) != DType::float64); }
  // Not 0: codes that an operator makes of its own intermediate numbers, and that lie near an edge, are drawn by it.
  uint64_t code_draw() const { return variation_.code_draw; }
  std::vector<Datum> run_body(ir::GraphId body, std::span<const Datum> inputs) const {
    return runner_.run_body(body, inputs);
  }
  BodyRunner& runner() const { return runner_; }

 private:
  std::span<const Datum> inputs_;
  std::span<const Type> types_;
  std::span<Datum> outputs_;
  BodyRunner& runner_;
  bool is_wide_;
  Variation variation_;
};

// A tensor from elements, each rounded once.
template <typename C>
Tensor make_rounded(DType dtype, Shape shape, std::vector<C> elements);

// Calls fn with a zero of the carrier of `dtype`: double, int64_t or uint64_t (booleans too). Error for others.
template <typename Fn>
decltype(auto) with_carrier(DType dtype, Fn&& fn) {
  switch (tensor::kind(dtype)) {
    case tensor::DTypeKind::floating:
      return fn(double{});
    case tensor::DTypeKind::signed_integer:
      return fn(int64_t{});
    case tensor::DTypeKind::unsigned_integer:
    case tensor::DTypeKind::boolean:
      return fn(uint64_t{});
    default:
      fail(ErrorCode::unsupported, "elements of type {} cannot be computed with here", tensor::name(dtype));
  }
}

}  // namespace assay::ops
