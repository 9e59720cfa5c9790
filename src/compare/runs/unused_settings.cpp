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

  template <typename T>
  void look_at(std::string_view option, const PerOutput<T>& setting) {
    for (const auto& [name, value] : setting.entries()) look_for(option, name);
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

std::vector<std::string> unused_settings(const results::RunReport& report, const CompareOptions& options) {
  Unused unused(report);
  unused.look_at("--atol", options.atol);
  unused.look_at("--rtol", options.rtol);
  unused.look_at("--check-error-stat", options.statistic);
  unused.look_at("--error-quantile", options.quantile);
  unused.look_at("--max-exceeding", options.allowed_share);
  unused.look_at("--index-tolerance", options.index_tolerance);
  unused.look_at("--l2-threshold", options.l2);
  unused.look_at("--cosine-similarity-threshold", options.cosine);
  unused.look_at("--psnr-threshold", options.psnr_db);
  unused.look_at("--snr-threshold", options.snr_db);
  for (const auto& [a, b] : options.matches) {
    unused.look_for("--match", a);
    unused.look_for("--match", b);
  }
  return unused.take();
}

}  // namespace assay::compare
