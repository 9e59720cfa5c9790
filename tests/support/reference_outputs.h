#pragma once

#include <map>
#include <string>

#include "ops/interpreter.h"
#include "support/parsed_model.h"

namespace assay::testing_support {

// What the reference gives for the outputs of a model without inputs: shapes and bytes.
inline std::string reference_outputs(const std::string& text) {
  const ir::Model model = parsed(text);
  std::vector<ir::ValueId> wanted;
  for (const ir::Use& use : model.outputs(model.main_graph())) wanted.push_back(use.value);
  std::map<ir::ValueId, std::string> found;
  const auto sink = [&](ir::ValueId value, const tensor::Datum& datum) {
    for (const int64_t dim : datum.tensor().shape()) found[value] += std::to_string(dim) + ",";
    for (const std::byte byte : datum.tensor().bytes()) found[value] += " " + std::to_string(static_cast<int>(byte));
  };
  ops::Interpreter(model, {}).run({}, wanted, sink);
  std::string all;
  for (const ir::ValueId value : wanted) all += found[value] + ";";
  return all;
}

}  // namespace assay::testing_support
