#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/onednn/library.h"
#include "engine/weights/packed_weights.h"
#include "tensor/shape.h"

namespace assay::engine::cpu::onednn {

using Desc = std::shared_ptr<MemoryDesc>;

// A description of float32, bfloat16, int8, uint8 or int32 elements.
Desc strided_desc(const Library& library, tensor::DType dtype, const tensor::Shape& dims, const tensor::Shape& strides);
// In whatever way the library likes best.
Desc any_desc(const Library& library, tensor::DType dtype, const tensor::Shape& dims);
Desc plain_desc(const Library& library, tensor::DType dtype, const tensor::Shape& dims);

// The library's operation on each element of a result.
struct Eltwise {
  int algorithm = 0;  // 0: nothing
  float alpha = 0;
  float beta = 0;
};

// The library's operation on a result while it has it: adds a tensor, or, if that is null, does something to each
// element.
struct Appended {
  Desc added;
  Eltwise eltwise;
};

// The meaning of integers: scales and zero points of operands and result. Empty: 1, or 0.
struct Scaling {
  std::vector<float> source, weights, target;  // of weights: one, or one for each channel of the result
  std::vector<int32_t> source_zero, target_zero;

  // That of some channels of the result.
  Scaling of(const Lane& channels) const;
};

// A primitive with the descs of its arguments. It may run in several threads at once.
class Operation {
 public:
  struct Convolution {
    Desc source, weights, bias, target;  // no bias: null
    tensor::Shape strides, dilations, padding_before, padding_after;
    std::vector<Appended> appended;
    const Scaling* scaling = nullptr;  // of floats: null
    bool is_grouped = false;
    bool is_transposed = false;
    bool sums_codes = false;
  };
  struct Product {
    Desc source, weights, bias, target;
    std::vector<Appended> appended;
    const Scaling* scaling = nullptr;
    bool sums_codes = false;
  };

  // Null: the library has no implementation of that name (empty: of any) but its slow reference and, of codes, those
  // whose sums saturate.
  static std::shared_ptr<const Operation> make(const Library& library, const Convolution& convolution,
                                               std::string_view implementation = {});
  static std::shared_ptr<const Operation> make(const Library& library, const Product& product,
                                               std::string_view implementation = {});
  // The names of all others, best first by the library's guess.
  static std::vector<std::string> implementations(const Library& library, const Convolution& convolution);
  static std::vector<std::string> implementations(const Library& library, const Product& product);

  const std::string& implementation() const { return implementation_; }
  const Desc& weights() const { return weights_; }  // form that it wants
  uint64_t scratchpad_bytes() const;

 private:
  friend class Running;
  Operation(const Library& library, PrimitiveDesc* desc, std::vector<std::pair<int, Desc>> arguments,
            std::span<const Appended> appended, const Scaling* scaling);

  const Library& library_;
  std::shared_ptr<Primitive> primitive_;
  std::string implementation_;
  std::vector<std::pair<int, Desc>> arguments_;
  Desc weights_;
};

// An operation with its own memory objects, for one thread at a time.
class Running {
 public:
  explicit Running(const Operation& operation);
  // The bytes of an argument: kSource, kTarget, …
  void set(int argument, const void* bytes);
  // Sets the scaling of the operation that it was made for.
  void set(const Scaling& scaling);
  void execute();

 private:
  const Operation& operation_;
  std::vector<Argument> arguments_;
  std::vector<std::shared_ptr<Memory>> owned_;
};

// A part of a constant tensor, as it lies in the model.
struct WeightsPart {
  const tensor::Tensor& tensor;
  Desc desc;
  uint64_t first = 0;  // byte
};

// A derivation of a constant tensor, under a name that says how it is made.
struct MadeWeights {
  const tensor::Tensor& tensor;
  Desc desc;
  std::string name;
  std::function<std::vector<float>()> make;
};

// Packs weights into the form that an operation wants.
Buffer pack(const Library& library, PackedWeights& packed, const WeightsPart& from, const Desc& to);
Buffer pack(const Library& library, PackedWeights& packed, const MadeWeights& from, const Desc& to);

}  // namespace assay::engine::cpu::onednn
