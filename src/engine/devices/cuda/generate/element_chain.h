#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/layers/chain.h"

namespace assay::engine::cuda {

// The name of an element in memory in texts; empty: none.
std::string_view element_type(tensor::DType dtype);
// True for floats of 16 bits.
inline bool is_half(tensor::DType dtype) { return dtype == tensor::DType::float16 || dtype == tensor::DType::bfloat16; }
// Floats that kernels compute in float32, and other elements that a register holds as float32.
bool is_read_as_float(tensor::DType dtype);

// Elementwise steps as statements of a text: operands are `x0`, `x1` and so on, what is given `given`; they define
// `made`.
struct ElementText {
  std::vector<int> inputs;  // of the layer, by operand
  std::string statements;
  std::vector<float> numbers;                     // that statements call `NUMBER(kNumbers + i)`
  bool is_exact = false;                          // operands are as in memory, not float32
  tensor::DType type = tensor::DType::undefined;  // of what is made
};

// The text of a chain's steps, all in float32; nullopt: an operand has another type.
std::optional<ElementText> chain_text(const Layer& layer, const Chain& chain);
// A layer of elementwise operators only; nullopt: another one.
std::optional<ElementText> find_element_chain(const Layer& layer);

}  // namespace assay::engine::cuda
