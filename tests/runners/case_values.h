#pragma once

#include <map>
#include <string>

#include "runners/case_file.h"
#include "tensor/datum.h"

namespace assay::cases {

// What the variables of a case stand for in one run of it, and the file for messages.
struct Scope {
  std::filesystem::path path;
  std::map<std::string, std::string> words;

  [[noreturn]] void fail_at(int line, const std::string& message) const;
};

// `f32`, `bf16`, `i4`, `str`, a longer name as float8e4m3fn or int64, or a variable. Error (parse) for other words.
tensor::DType dtype_of(const std::string& word, int line, const Scope& scope);

// The value; where nothing says which, a tensor of ones. Error (parse) where elements and dims do not go together.
// Floats are rounded to float32 first, and from there to narrower types.
tensor::Datum make_value(const Literal& literal, const Scope& scope);

// The type of the value in ONNX's text syntax: `float[2,3]`, `seq(float)`.
std::string type_text(const Literal& literal, const Scope& scope);

}  // namespace assay::cases
