#include "compare/runs/unused_settings.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace assay::compare {
namespace {

class Unused {
 public:
  explicit Unused(const results::RunReport& report) {
    for (const results::PairComparison& pair : report.pairs) {
      for (const results::IterationComparison& iteration : pair.iterations) add(iteration);
    }
  }

  void look_for(std::string_view option, const std::string& name) {
    const bool is_used =
        std::ranges::any_of(names_, [&](const std::string& seen) { return seen == name || matches_glob(name, seen); });
    if (!is_used) lines_.push_back(fmt::format("{}: no output is called `{}`", option, printable(name)));
  }

  std::vector<std::string> take() { return names_.empty() ? std::vector<std::string>() : std::move(lines_); }

 private:
  void add(const results::IterationComparison& iteration) {
    for (const results::OutputComparison& output : iteration.outputs) {
      names_.insert(output.name_a);
      names_.insert(output.name_b);
    }
    for (const std::vector<std::string>* list : {&iteration.missing, &iteration.extra, &iteration.unpaired}) {
      names_.insert(list->begin(), list->end());
    }
  }

  std::set<std::string> names_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<NamedOutput> named_outputs(const CompareOptions& options) {
  std::vector<NamedOutput> named;
  const auto add = [&](std::string_view option, const auto& setting) {
    for (const auto& [name, value] : setting.entries()) named.push_back({option, name});
  };
  add("--atol", options.atol);
  add("--rtol", options.rtol);
  add("--check-error-stat", options.statistic);
  add("--error-quantile", options.quantile);
  add("--max-exceeding", options.allowed_share);
  add("--index-tolerance", options.index_tolerance);
  add("--l2-threshold", options.l2);
  add("--cosine-similarity-threshold", options.cosine);
  add("--psnr-threshold", options.psnr_db);
  add("--snr-threshold", options.snr_db);
  for (const auto& [a, b] : options.matches) {
    named.push_back({"--match", a});
    named.push_back({"--match", b});
  }
  return named;
}

std::vector<std::string> unused_settings(const results::RunReport& report, const CompareOptions& options) {
  Unused unused(report);
  for (const NamedOutput& named : named_outputs(options)) unused.look_for(named.option, named.name);
  return unused.take();
}

}  // namespace assay::compare
