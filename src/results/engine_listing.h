#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/model_listing.h"

namespace assay::results {

// The range of the elements of a saved tensor.
struct TensorRange {
  double least = 0;
  double greatest = 0;
  double mean = 0;
};

// A tensor that a layer of an engine takes or makes.
struct EngineTensor {
  ValueInfo info;
  std::string format;  // empty: not known
  std::optional<TensorRange> range;
};

// A layer as it runs.
struct EngineLayer {
  std::string name;
  std::string op;
  std::string tactic;
  std::vector<std::string> origins;  // nodes of the source model
  std::vector<EngineTensor> inputs;
  std::vector<EngineTensor> outputs;
};

// The shapes, or the elements, that an input may have.
struct EngineRange {
  std::string input;
  bool is_values = false;
  bool is_any = false;  // nothing bounds it
  std::vector<int64_t> least;
  std::vector<int64_t> best;
  std::vector<int64_t> most;
};

// A node of the source model that stands in no layer: it was folded or removed, or is another view of its operand.
struct UnplannedNode {
  std::string name;
  std::string op;
};

// A value in the memory of a run, from one layer to another, both included.
struct EngineBlock {
  std::string value;
  size_t first = 0;
  size_t last = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;
};

struct EngineProfile {
  std::vector<EngineRange> inputs;
  bool is_planned = false;  // for its best shapes; otherwise it is when they come, and has no layers yet
  std::vector<EngineLayer> layers;
  std::vector<UnplannedNode> unplanned;
  uint64_t memory_bytes = 0;
  std::vector<EngineBlock> blocks;  // results of layers, placed as the engine places values; views apart
};

// Facts of a plan, or of the layers that the engine makes of a model before it plans them.
struct EngineListing {
  bool is_network = false;  // only names, inputs, outputs and the layers of one profile are there
  bool is_header = false;   // only the machine, capabilities and size of a file that another library wrote are there
  std::string path;
  std::string name;
  std::string machine;                    // or the library that built it
  std::vector<std::string> capabilities;  // of GPUs that an engine of another library is for, as far as it says
  std::string source;
  bool is_strict = false;
  std::vector<std::string> permissions;  // `bf16`
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  uint64_t memory_bytes = 0;  // the most that a profile takes
  uint64_t weight_bytes = 0;
  uint64_t packed_bytes = 0;  // of weights in the forms that kernels want
  uint64_t file_bytes = 0;
  std::vector<EngineProfile> profiles;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
