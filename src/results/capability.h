#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::results {

// Nodes of the main graph that stand together, by their numbers in it, and that a backend runs, or does not for one
// reason.
struct NodeRange {
  size_t first = 0;
  size_t last = 0;
  bool is_supported = false;
  std::string op;                  // of the nodes that are not supported
  std::string reason;              // for not supporting them
  std::vector<std::string> nodes;  // names; nodes may be inside of those of the main graph
  std::string file;                // that the nodes were written to; empty: none
};

// The parts of a model that a backend can run.
struct CapabilityReport {
  std::string path;
  std::string backend;
  std::string title;
  std::vector<NodeRange> ranges;  // all of the model, in order
  size_t untried_count = 0;       // nodes that need what refused ones give; they count as supported
  std::string whole_refusal;      // of the model where no node is named; empty: it is not refused
  std::string whole_remedy;       // the setting of a request that lifts that, as Error::remedy()
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
