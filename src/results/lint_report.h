#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::results {

// `exception`: a backend would refuse or fail; `warning`: it would probably not do what is wanted; `info`: worth
// knowing.
enum class LintLevel { exception, warning, info };

struct LintEntry {
  LintLevel level = LintLevel::warning;
  std::string source;  // part of the linter that says so
  std::string code;    // a stable word for the kind of finding
  std::string message;
  std::string node;         // name; empty: it is about the model
  std::string op;           // of that node
  std::string remedy = {};  // the setting of a request that lifts it, as Error::remedy()
};

struct LintReport {
  std::string path;
  std::vector<std::string> passing;  // names of nodes that ran without an exception, in graph order
  std::vector<std::string> failing;  // names of nodes with an exception
  std::vector<LintEntry> entries;
  std::vector<std::pair<std::string, double>> timings;  // seconds
};

}  // namespace assay::results
