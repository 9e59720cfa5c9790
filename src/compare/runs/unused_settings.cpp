#include "compare/runs/unused_settings.h"

#include <algorithm>
#include <set>

namespace assay::compare {
namespace {

class Unused {
 public:
  explicit Unused(const results::RunReport& report) {
    for (const results::PairComparison& pair : report.pairs) {
      for (const results::IterationComparison& iteration : pair.iterations) add(iteration);
    }
  }

  void look_for(NamedOutput named) {
    const auto is_meant = [&](const std::string& seen) { return seen == named.name || matches_glob(named.name, seen); };
    if (std::ranges::none_of(names_, is_meant)) unused_.push_back(std::move(named));
  }

  std::vector<NamedOutput> take() { return names_.empty() ? std::vector<NamedOutput>() : std::move(unused_); }

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
  std::vector<NamedOutput> unused_;
};

}  // namespace

std::vector<NamedOutput> named_outputs(const CompareOptions& options) {
  std::vector<NamedOutput> named;
  const auto add = [&](std::string_view setting, const auto& values) {
    for (const auto& [name, value] : values.entries()) named.push_back({setting, name});
  };
  add("atol", options.atol);
  add("rtol", options.rtol);
  add("check_error_stat", options.statistic);
  add("error_quantile", options.quantile);
  add("max_exceeding", options.allowed_share);
  add("index_tolerance", options.index_tolerance);
  add("l2_threshold", options.l2);
  add("cosine_similarity_threshold", options.cosine);
  add("psnr_threshold", options.psnr_db);
  add("snr_threshold", options.snr_db);
  for (const auto& [a, b] : options.matches) {
    named.push_back({"match", a});
    named.push_back({"match", b});
  }
  return named;
}

std::vector<NamedOutput> unused_settings(const results::RunReport& report, const CompareOptions& options) {
  Unused unused(report);
  for (NamedOutput& named : named_outputs(options)) unused.look_for(std::move(named));
  return unused.take();
}

}  // namespace assay::compare
