#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "results/model_listing.h"

namespace assay::results {

struct TensorFlowNode {
  std::string name;  // of TFLite, which has none: that of its first output
  std::string op;
  std::vector<std::string> inputs;  // `^name` is a control input
  std::vector<std::string> outputs;
};

// A graph, a function, or a subgraph of TFLite.
struct TensorFlowGraph {
  std::string name;
  std::vector<ValueInfo> inputs = {};
  std::vector<ValueInfo> outputs = {};
  std::vector<TensorFlowNode> nodes = {};
  uint64_t node_count = 0;  // also of those that are not listed
};

// A way to call a model: names of arguments, and the tensors that they are.
struct TensorFlowSignature {
  std::string name;
  std::string tags;  // of the graph that has it
  std::vector<std::pair<std::string, ValueInfo>> inputs = {};
  std::vector<std::pair<std::string, ValueInfo>> outputs = {};
};

// Facts of a frozen graph, a SavedModel or a TFLite file.
struct TensorFlowListing {
  std::string path;
  std::string kind;     // `TFLite`, `frozen graph`, `SavedModel`
  std::string version;  // of the form of the file, or of the TensorFlow that wrote it
  std::string description;
  std::vector<TensorFlowGraph> graphs;     // of TFLite the first is the model; otherwise one for each set of tags
  std::vector<TensorFlowGraph> functions;  // whose nodes are in no graph
  std::vector<TensorFlowSignature> signatures;
  std::vector<ValueInfo> variables;  // in files of their own
  std::map<std::string, uint64_t> op_histogram;
  uint64_t constant_count = 0;
  uint64_t constant_bytes = 0;
  uint64_t variable_bytes = 0;
  uint64_t quantized_tensors = 0;  // of TFLite: those with one scale
  uint64_t quantized_by_axis = 0;  // and with one for each channel
  std::vector<Diagnostic> findings;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
