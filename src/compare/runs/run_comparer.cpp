#include "compare/runs/run_comparer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/compare_output.h"
#include "compare/measure.h"

namespace assay::compare {
namespace {

// The distance of two values for matching by value, relative to their size; infinity if they cannot belong together.
double distance(const tensor::Datum& a, const tensor::Datum& b) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (!a.is_tensor() || !b.is_tensor() || a.tensor().shape() != b.tensor().shape()) return kNever;
  if (tensor::kind(a.tensor().dtype()) == tensor::DTypeKind::string ||
      tensor::kind(b.tensor().dtype()) == tensor::DTypeKind::string) {
    return kNever;
  }
  const results::PairMetrics metrics = measure(a.tensor(), b.tensor(), {.infinities_equal = true});
  const double size = metrics.b.mean_magnitude * std::sqrt(static_cast<double>(metrics.count));
  if (metrics.l2 == 0) return 0;
  const double relative = metrics.l2 / size;
  return std::isnan(relative) ? kNever : relative;
}

}  // namespace

RunComparer::RunComparer(size_t runners, const CompareOptions& options)
    : options_(options), matcher_(options.matches), pairs_(runners > 1 ? runners - 1 : 0) {}

bool RunComparer::is_essential(std::string_view name) const {
  return options_.strict_outputs || !options_.is_essential || options_.is_essential(name);
}

void RunComparer::accept(size_t runner, uint64_t iteration, std::string_view name, const tensor::Datum& value) {
  if (wants_stop_) return;
  tensor::NamedData parts;
  flatten(name, value, parts);
  for (tensor::NamedDatum& part : parts) {
    if (runner > 0) compare_part(runner, iteration, part);
    if (runner >= pairs_.size()) continue;
    Held& held = held_[{runner, iteration}];
    held.index.emplace(part.name, held.parts.size());
    held.parts.push_back(std::move(part));
    held.used.push_back(false);
  }
}

void RunComparer::compare_part(size_t runner, uint64_t iteration, tensor::NamedDatum part) {
  const Key key{runner - 1, iteration};
  const auto held = held_.find(key);
  const std::string partner = matcher_.partner(part.name);
  const auto found = held == held_.end() ? std::map<std::string, size_t>::iterator() : held->second.index.find(partner);
  if (held == held_.end() || partner.empty() || found == held->second.index.end() || held->second.used[found->second]) {
    rests_[key].push_back(std::move(part));
    return;
  }
  compare_with(held->second, found->second, part, key, matcher_.is_explicit(part.name) ? "--match" : "");
}

void RunComparer::compare_with(Held& held, size_t index, const tensor::NamedDatum& part, const Key& key,
                               std::string_view match) {
  results::OutputComparison output =
      compare_output(held.parts[index], part, options_, {.pair = key.first, .iteration = key.second});
  output.match = match;
  wants_stop_ = wants_stop_ || (options_.fail_fast && !output.passed);
  open_[key].outputs.push_back(std::move(output));
  held.used[index] = true;
  held.parts[index].value = {};
}

void RunComparer::finish_iteration(size_t runner, uint64_t iteration) {
  if (runner < pairs_.size()) ++pairs_[runner].iterations_a;
  if (runner == 0) return;
  const Key key{runner - 1, iteration};
  ++pairs_[runner - 1].iterations_b;
  const auto held = held_.find(key);
  if (held != held_.end()) {
    if (!wants_stop_) settle(held->second, rests_[key], key);
    if (!wants_stop_) report_unpaired(held->second, rests_[key], key);
    close_iteration(held->second, key);
  }
  held_.erase(key);
  rests_.erase(key);
  open_.erase(key);
}

void RunComparer::settle(Held& held, std::vector<tensor::NamedDatum>& rest, const Key& key) {
  if (options_.match_by == MatchBy::order) settle_by_order(held, rest, key);
  if (options_.match_by == MatchBy::value) settle_by_value(held, rest, key);
}

void RunComparer::settle_by_order(Held& held, std::vector<tensor::NamedDatum>& rest, const Key& key) {
  size_t next = 0;
  for (size_t i = 0; i < held.parts.size() && next < rest.size(); ++i) {
    if (!held.used[i]) compare_with(held, i, rest[next++], key, "order");
  }
  rest.erase(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(next));
}

void RunComparer::settle_by_value(Held& held, std::vector<tensor::NamedDatum>& rest, const Key& key) {
  constexpr double kFarthest = 0.1;
  for (size_t i = 0; i < held.parts.size(); ++i) {
    if (held.used[i]) continue;
    double nearest = kFarthest;
    size_t best = rest.size();
    for (size_t j = 0; j < rest.size(); ++j) {
      const double far = distance(held.parts[i].value, rest[j].value);
      if (far < nearest) {
        nearest = far;
        best = j;
      }
    }
    if (best == rest.size()) continue;
    compare_with(held, i, rest[best], key, "value");
    rest.erase(rest.begin() + static_cast<ptrdiff_t>(best));
  }
}

void RunComparer::report_unpaired(const Held& held, const std::vector<tensor::NamedDatum>& rest, const Key& key) {
  results::IterationComparison& iteration = open_[key];
  for (size_t i = 0; i < held.parts.size(); ++i) {
    if (held.used[i]) continue;
    const std::string& name = held.parts[i].name;
    (is_essential(name) ? iteration.missing : iteration.unpaired).push_back(name);
  }
  for (const tensor::NamedDatum& part : rest) {
    (is_essential(part.name) ? iteration.extra : iteration.unpaired).push_back(part.name);
  }
}

void RunComparer::close_iteration(const Held& held, const Key& key) {
  results::IterationComparison iteration = std::move(open_[key]);
  iteration.index = key.second;
  std::ranges::stable_sort(iteration.outputs, {}, [&](const results::OutputComparison& output) {
    return held.index.find(output.name_a)->second;
  });
  iteration.passed = iteration.missing.empty() && iteration.extra.empty() && !iteration.outputs.empty() &&
                     std::ranges::all_of(iteration.outputs, &results::OutputComparison::passed);
  if (!iteration.missing.empty() || !iteration.extra.empty()) wants_stop_ = wants_stop_ || options_.fail_fast;
  results::PairComparison& pair = pairs_[key.first];
  pair.passed_count += iteration.passed ? 1 : 0;
  pair.stopped = wants_stop_;
  pair.iterations.push_back(std::move(iteration));
}

void RunComparer::drop(size_t runner) {
  std::erase_if(held_, [&](const auto& entry) { return entry.first.first == runner; });
}

std::vector<results::PairComparison> RunComparer::take() {
  // Iterations left open at the first failure are reported as far as they went.
  for (auto& [key, iteration] : open_) {
    iteration.index = key.second;
    pairs_[key.first].stopped = true;
    pairs_[key.first].iterations.push_back(std::move(iteration));
  }
  open_.clear();
  return std::move(pairs_);
}

}  // namespace assay::compare
