#pragma once

#include <string>

#include "ir/model.h"
#include "tensor/named.h"

namespace assay::tasks {

// A folder that shows a fault to somebody else.
struct Reproducer {
  const ir::Model& model;
  tensor::NamedData inputs;
  tensor::NamedData expected;  // outputs
  std::string text;            // the failure, and how to run it
};

// Writes `model.onnx`, `inputs.json`, `expected.json` and `README.md` into a new folder. Error (io, usage) if it is
// there and not empty.
void write_reproducer(const Reproducer& reproducer, const std::string& folder);

}  // namespace assay::tasks
