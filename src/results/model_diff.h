#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "results/model_listing.h"

namespace assay::results {

// One fact that the two sides state differently; an empty optional: that side does not state it.
struct FactChange {
  std::string what;
  std::optional<std::string> before;
  std::optional<std::string> after;
  std::string note;  // more about it, as the distance of two tensors
};

struct Rename {
  std::string before;
  std::string after;
};

// A node of one side, or a pair that corresponds.
struct NodeDifference {
  std::string node;   // `node `conv0` (Conv)`, of the first side where there is one
  std::string other;  // of the second side where it reads differently
  std::string graph;  // body or function that holds it; empty: the main graph
  std::vector<FactChange> changes;
};

struct NodeRename {
  Rename name;  // equal texts: only results are renamed
  std::string op;
  std::string graph;
  std::vector<Rename> results;
};

struct NodeDifferences {
  std::vector<NodeDifference> added;
  std::vector<NodeDifference> removed;
  std::vector<NodeDifference> changed;
  std::vector<NodeRename> renamed;
  bool reordered = false;
};

// Inputs or outputs of the main graph.
struct InterfaceDifferences {
  std::vector<ValueInfo> added;
  std::vector<ValueInfo> removed;
  std::vector<std::pair<ValueInfo, ValueInfo>> changed;  // type or shape
  std::vector<Rename> renamed;
  std::vector<FactChange> rewired;  // outputs that something else computes
  bool reordered = false;
};

// The distance of two tensors of the same shape. max, mean and norm are of elements that are finite on both sides.
struct TensorDistance {
  uint64_t count = 0;
  uint64_t differing_count = 0;  // elements beyond the tolerance
  double max_abs = 0;
  double max_rel = 0;  // |a-b| / |b| where b is not zero
  double mean_abs = 0;
  double relative_norm = 0;              // |a-b| / |a| of whole tensors, in the Euclidean norm
  std::vector<int64_t> first_differing;  // index; empty: none, or a scalar
  uint64_t nan_count_before = 0;
  uint64_t nan_count_after = 0;
  uint64_t inf_count_before = 0;
  uint64_t inf_count_after = 0;
  bool numeric = true;  // false: compared as strings or bytes, only the counts say something
};

struct WeightDifference {
  ValueInfo before;
  ValueInfo after;
  std::optional<TensorDistance> distance;  // empty: type or shape differ
  bool within_tolerance = false;
};

struct WeightDifferences {
  std::vector<ValueInfo> added;
  std::vector<ValueInfo> removed;
  std::vector<WeightDifference> changed;
  std::vector<Rename> renamed;
  std::vector<std::string> unread;  // compared by type and shape only
  uint64_t compared_count = 0;
};

struct FunctionDifference {
  std::string function;
  std::vector<FactChange> changes;
};

struct FunctionDifferences {
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<FunctionDifference> changed;
};

// Types that are stated of results of nodes. Only what both sides state can differ.
struct ValueInfoDifferences {
  uint64_t added_count = 0;
  uint64_t removed_count = 0;
  std::vector<std::pair<ValueInfo, ValueInfo>> changed;
};

// Numbers of differences of each kind; what makes no difference is not counted.
struct DifferenceCounts {
  uint64_t header = 0;
  uint64_t inputs = 0;
  uint64_t outputs = 0;
  uint64_t nodes = 0;
  uint64_t weights = 0;
  uint64_t functions = 0;
  uint64_t value_infos = 0;
  uint64_t names = 0;
};

struct ModelDiff {
  std::string path_a;
  std::string path_b;
  bool same_bytes = false;  // nothing else was looked at
  bool ignores_names = false;
  bool equal = true;
  DifferenceCounts counts;
  std::vector<FactChange> header;
  InterfaceDifferences inputs;
  InterfaceDifferences outputs;
  NodeDifferences nodes;
  WeightDifferences weights;
  FunctionDifferences functions;
  ValueInfoDifferences value_infos;
  std::vector<Diagnostic> findings_a;
  std::vector<Diagnostic> findings_b;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
