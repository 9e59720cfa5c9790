#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/registered.h"
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/traits.h"

namespace assay::ops {

inline constexpr std::string_view kMicrosoft = "com.microsoft";  // the domain of ONNX Runtime's own operators

// The meaning of an operator, from an operator-set version of its domain until the next row of the same name.
struct Operator {
  std::string_view domain;  // empty: ai.onnx
  std::string_view name;
  int64_t since = 1;
  Traits traits;  // equal in all rows of the name
  void (*infer)(Infer& node) = nullptr;
  void (*eval)(Eval& node) = nullptr;
  // Multiply-accumulates of one run, after inference; nullptr: none worth counting.
  Dim (*macs)(const Infer& node) = nullptr;
  // Steps of one run beyond one for each element in and out, where `macs` does not count them.
  Dim (*work)(const Infer& node) = nullptr;
  bool is_random = false;  // not to be evaluated ahead of a run
};

using OperatorRows = std::span<const Operator>;

// The row that holds for an operator in a version of its domain; nullptr if none, or if the reference leaves it out.
const Operator* find_operator(std::string_view domain, std::string_view name, int64_t version);

// Every file src/ops/operators/<group>/<file>.cpp defines `OperatorRows operator_<group>_<file>()`.
std::span<const Registered<OperatorRows>> registered_operators();

}  // namespace assay::ops
