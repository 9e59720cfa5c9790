#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace assay::results {

// A node that a backend cannot run, and why.
struct RefusedNode {
  std::string node;
  std::string op;
  std::string reason;
  std::string remedy = {};  // the setting of a request that lifts it, as Error::remedy()
  // Numbers, in the main graph, of the nodes that are it, hold it in a body, or call a function with it.
  std::vector<size_t> places = {};
};

struct BackendCompatibility {
  std::string backend;
  bool usable = false;  // true: found
  std::string version;  // or why it is not there
  size_t node_count = 0;
  std::vector<RefusedNode> refused;
  size_t untried_count = 0;   // nodes that need what refused ones give, and could not be judged without it
  std::string whole_refusal;  // reason why what is left of the model is refused if no node is named; empty: it is not
  std::string whole_remedy;   // the setting that lifts that

  bool accepts_all() const { return refused.empty() && whole_refusal.empty(); }
};

struct CompatibilityReport {
  std::string path;
  std::vector<BackendCompatibility> backends;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
