#pragma once

#include "onnx/parser/lexer.h"
#include "tensor/tensor.h"

namespace assay::onnx {

// Parses the elements `{…}` of a tensor; there must be as many as the dims need. Those of floats narrower than float32
// are bit patterns, unless one of them is written with a point, with an exponent or as a word: then all of them are
// decimal numbers. A complex element is two numbers. Types of 4 and 2 bits also take the packed bytes.
tensor::Tensor parse_elements(TextLexer& lexer, tensor::DType dtype, tensor::Shape shape);

}  // namespace assay::onnx
