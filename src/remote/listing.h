#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/signature.h"

namespace assay::remote {

// A tensor of a layer, and how its elements lie, in the words of its library.
struct ListedTensor {
  exec::Port port;
  std::string format;
};

struct ListedLayer {
  std::string name;
  std::string op;
  std::string tactic;
  std::vector<std::string> origins;  // nodes of the model, by their names
  std::vector<ListedTensor> inputs;
  std::vector<ListedTensor> outputs;
};

// Layers that a library makes of a model, or that an engine of its has.
struct Listing {
  std::string library;  // `TensorRT-RTX 1.7.1`
  std::string name;
  exec::Signature signature;
  uint64_t memory_bytes = 0;  // of a run; 0: not known
  std::vector<ListedLayer> layers;
};

}  // namespace assay::remote
