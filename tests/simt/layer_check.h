#pragma once

#include <cmath>

#include "simt/on_card.h"

namespace assay::testing_support {

// An initializer of so many numbers, none of them special.
inline std::string numbers(const std::string& declared, int count) {
  std::string text = declared + " = {";
  for (int i = 0; i < count; ++i) text += fmt::format("{}{:.3f}", i == 0 ? "" : ",", std::sin(i * 0.7));
  return text + "}";
}

// An initializer of integers of 8 bits, from the least one of their type on.
inline std::string codes(const std::string& declared, int count, int least = -127) {
  std::string text = declared + " = {";
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i == 0 ? "" : ",", i * 37 % 255 + least);
  return text + "}";
}

// What is wrong with a model that kernels of these names have to compute, three times with the same result, as graphs
// too; empty: nothing.
inline std::string layers_fault(const std::string& text, const std::vector<std::string>& tactics, double tolerance,
                                const std::function<double(size_t)>& number = sine) {
  const OnCard model("<ir_version: 11, opset_import: [\"\" : 24, \"com.microsoft\" : 1]> " + text);
  if (model.tactics() != tactics) {
    std::string found = text + ": computed by";
    for (const std::string& tactic : model.tactics()) found += " " + tactic;
    return found;
  }
  engine::Context context(model.program(), {}, false);
  const auto first = model.run(context, number);
  std::string fault = difference(first, model.expected(number), tolerance);
  for (int run = 0; run < 2; ++run) fault += difference(model.run(context, number), first, 0);
  return fault.empty() ? fault : text + ": " + fault;
}

}  // namespace assay::testing_support
