#include "engine/tactics/tactics.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "engine/weights/packed_weights.h"
#include "engine/weights/uploaded.h"

namespace assay::engine {
namespace {

constexpr double kFirstShare = 0.4;  // of the time for a tactic, before others have been measured
constexpr double kShare = 0.2;       // in each round
constexpr double kBehind = 1.6;      // tactics so much slower are measured once
constexpr double kClose = 1.2;       // tactics so much slower are not measured again
constexpr double kCalm = 0.97;       // of what it took before: it has not become faster
constexpr double kWorth = 0.96;      // of the first's time: what is hardly faster does not take its place
constexpr int kAgreeing = 2;         // rounds
constexpr int kMostRounds = 8;

std::string tactic_name(const Implementation& implementation, std::string_view variant) {
  return variant.empty() ? std::string(implementation.name()) : fmt::format("{}:{}", implementation.name(), variant);
}

// The span of elements, gaps included: bytes before the first one, which lies behind others if strides are negative,
// and in all.
struct Span {
  uint64_t before, bytes;
};

Span span_of(const TensorDesc& desc) {
  int64_t before = 0;
  int64_t last = 0;
  for (size_t i = 0; i < desc.dims.size(); ++i) {
    const int64_t reach = std::max<int64_t>(desc.dims[i] - 1, 0) * desc.strides[i];
    (reach < 0 ? before : last) += reach;
  }
  const auto bytes = [&](int64_t count) { return static_cast<uint64_t>(count) * tensor::bit_width(desc.dtype) / 8; };
  return {bytes(-before), bytes(last + 1 - before)};
}

// Memory for a run of its own.
class Sample {
 public:
  Sample(const Device& device, const Layer& layer, uint64_t workspace_bytes) : device_(device) {
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const tensor::Tensor* const constant = layer.constants[i];
      arguments_.inputs.push_back(constant != nullptr ? place(*constant) : place(layer.inputs[i]));
    }
    for (const TensorDesc& output : layer.outputs) arguments_.outputs.push_back(place(output));
    owned_.push_back(device.allocate(workspace_bytes));
    arguments_.workspace = owned_.back().first;
  }
  const Arguments& arguments() const { return arguments_; }
  const std::vector<Extent>& constants() const { return constants_; }

 private:
  Address place(const tensor::Tensor& constant) {
    owned_.push_back(uploaded_.get(constant, device_));
    constants_.push_back({owned_.back().first, owned_.back().bytes});
    return owned_.back().first;
  }
  Address place(const TensorDesc& desc) {
    if (!desc.exists()) return {};
    const Span span = span_of(desc);
    owned_.push_back(device_.allocate(span.bytes));
    device_.fill_sample(owned_.back(), desc.dtype);
    return owned_.back().first + span.before;
  }

  const Device& device_;
  UploadedConstants uploaded_;
  std::vector<Buffer> owned_;
  std::vector<Extent> constants_;
  Arguments arguments_;
};

// The memory from which kernels of a layer that is measured read constants.
std::vector<Extent> constant_memory(const Sample& sample, const TrialWeights& weights) {
  std::vector<Extent> extents = sample.constants();
  const std::vector<Extent> forms = weights.memory();
  extents.insert(extents.end(), forms.begin(), forms.end());
  return extents;
}

}  // namespace

TacticSelector::TacticSelector(const Device& device, const TacticOptions& options)
    : device_(device),
      options_(options),
      cache_(options.cache ? options.cache : std::make_shared<TimingCache>()),
      machine_(options.measures ? text_of(device.fingerprint()) : "") {}

std::string_view TacticSelector::replayed(const Layer& layer) const {
  const auto found = options_.replayed.find(layer_name(*layer.model, layer.node));
  return found == options_.replayed.end() ? std::string_view() : found->second;
}

std::string TacticSelector::missing(std::string_view tactic) const {
  const auto is_it = [&](const Implementation* each) { return tactic.substr(0, tactic.find(':')) == each->name(); };
  const auto found = std::ranges::find_if(device_.implementations(), is_it);
  return found == device_.implementations().end() ? "" : (*found)->missing();
}

bool TacticSelector::is_excluded(const Layer& layer, std::string_view tactic) const {
  if (!replayed(layer).empty()) return false;
  const std::string_view family = tactic.substr(0, tactic.find(':'));
  if (!options_.families.empty() && std::ranges::find(options_.families, family) == options_.families.end())
    return true;
  const auto is_it = [&](std::string_view name) {
    return tactic == name || (tactic.starts_with(name) && tactic[name.size()] == ':');
  };
  const auto own = options_.excluded_of.find(layer_name(*layer.model, layer.node));
  if (own != options_.excluded_of.end() && std::ranges::any_of(own->second, is_it)) return true;
  return std::ranges::any_of(options_.excluded, is_it);
}

std::vector<std::string> TacticSelector::variants(const Implementation& implementation, const Layer& layer) const {
  if (const std::string_view only = replayed(layer); !only.empty()) {
    const size_t colon = only.find(':');
    if (only.substr(0, colon) != implementation.name()) return {};
    return {std::string(colon == std::string_view::npos ? std::string_view() : only.substr(colon + 1))};
  }
  const bool has_exclusions = !options_.excluded.empty() || !options_.excluded_of.empty();
  if (options_.measures || has_exclusions) return implementation.variants(layer);
  return {""};
}

// Null: it is not to be used, or cannot compute the layer.
std::unique_ptr<Kernel> TacticSelector::make(const Tactic& tactic, const Layer& layer, PackedWeights& packed) const {
  if (is_excluded(layer, tactic.name)) return nullptr;
  Layer own = layer;
  own.packed = &packed;
  std::unique_ptr<Kernel> kernel = tactic.implementation->make(own, tactic.variant);
  if (kernel && kernel->workspace_bytes() > options_.most_workspace_bytes) return nullptr;
  return kernel;
}

TacticSelector::Choice TacticSelector::make_choice(const Tactic& tactic, const Layer& layer) const {
  NotedWeights weights(*layer.packed);
  Choice choice{make(tactic, layer, weights), tactic.name};
  for (const tensor::Tensor* const constant : layer.constants) {
    choice.is_packed.push_back(constant != nullptr && weights.holds(*constant));
  }
  return choice;
}

// The tactics that may compute the layer, best first.
std::vector<TacticSelector::Tactic> TacticSelector::tactics_of(const Layer& layer, TrialWeights& weights) const {
  Layer tried = layer;
  tried.packed = &weights;
  std::vector<Tactic> tactics;
  for (const Implementation* const implementation : device_.implementations()) {
    weights.begin_next();
    for (std::string& variant : variants(*implementation, tried)) {
      std::string name = tactic_name(*implementation, variant);
      tactics.push_back({implementation, std::move(variant), std::move(name)});
    }
  }
  return tactics;
}

TacticSelector::Choice TacticSelector::choose(const Layer& layer) const {
  if (options_.measures) {
    // A tactic of equal layers may not be exact enough with the weights of this one.
    for (std::set<std::string> without; const std::optional<Tactic> fastest = find_fastest(layer, without);) {
      if (Choice choice = make_choice(*fastest, layer); choice.kernel) return choice;
      without.insert(fastest->name);
    }
    return {};
  }
  std::vector<Tactic> tactics;
  if (TrialWeights weights(device_); true) tactics = tactics_of(layer, weights);
  std::ranges::stable_partition(tactics, [&](const Tactic& tactic) { return !tactic.implementation->yields(layer); });
  for (const Tactic& tactic : tactics) {
    if (Choice choice = make_choice(tactic, layer); choice.kernel) return choice;
  }
  return {};
}

// The time that a tactic took for a layer, if no kernel need be made for it.
std::optional<double> TacticSelector::known_seconds(const Race& race, const Tactic& tactic) const {
  const bool is_limited = options_.most_measured != 0 || options_.most_workspace_bytes != UINT64_MAX;
  if (is_limited) return std::nullopt;
  return cache_->find(machine_, race.key, tactic.name);
}

// Finds the fastest tactic. Measuring packs no weights.
std::optional<TacticSelector::Tactic> TacticSelector::find_fastest(const Layer& layer,
                                                                   const std::set<std::string>& without) const {
  Race race{layer_key(layer) + (has_cold_constants_ ? " cold" : ""), TrialWeights(device_), {}};
  for (Tactic& tactic : tactics_of(layer, race.weights)) {
    if (without.contains(tactic.name) || is_excluded(layer, tactic.name)) continue;
    race.weights.begin_next();
    Runner next{.tactic = std::move(tactic), .kernel = nullptr};
    next.seconds = known_seconds(race, next.tactic).value_or(0);
    if (next.seconds == 0) next.kernel = make(next.tactic, layer, race.weights);
    if (next.seconds == 0 && !next.kernel) continue;
    race.runners.push_back(std::move(next));
    if (options_.most_measured != 0 && race.runners.size() >= options_.most_measured) break;
    // With the second, the first is measured too: a layer with one tactic needs no measurements.
    if (race.runners.size() > 1) start(layer, race);
  }
  if (race.runners.empty()) return std::nullopt;
  return finish(layer, race);
}

// Looks up or measures what has no time yet, and lets go of kernels that are far behind.
void TacticSelector::start(const Layer& layer, Race& race) const {
  for (Runner& runner : race.runners) {
    if (runner.seconds > 0) continue;
    const std::optional<double> known = cache_->find(machine_, race.key, runner.tactic.name);
    if (!known && options_.is_cache_complete) {
      throw Error(ErrorCode::usage, fmt::format("the timing cache has no measurement of `{}` for the layer `{}`",
                                                runner.tactic.name, printable(layer_name(*layer.model, layer.node))))
          .about("error_on_timing_cache_miss");
    }
    runner.is_measured = !known;
    if (known)
      runner.seconds = *known;
    else
      measure(layer, race, runner, kFirstShare);
  }
  const double least = std::ranges::min_element(race.runners, {}, &Runner::seconds)->seconds;
  for (Runner& runner : race.runners) {
    if (runner.seconds > kBehind * least) drop(race, runner);
  }
}

void TacticSelector::drop(const Race& race, Runner& runner) const {
  if (!runner.kernel) return;
  runner.kernel.reset();
  if (runner.is_measured) cache_->add(machine_, race.key, runner.tactic.name, runner.seconds);
}

void TacticSelector::measure(const Layer& layer, const Race& race, Runner& runner, double share) const {
  layer.packed->settle();
  race.weights.fill();
  const Sample sample(device_, layer, runner.kernel->workspace_bytes());
  const std::unique_ptr<Call> call = runner.kernel->bind(sample.arguments());
  std::vector<Extent> cold;
  if (has_cold_constants_) cold = constant_memory(sample, race.weights);
  const double taken = device_.measure(*call, options_.seconds_per_tactic * share, cold);
  runner.seconds = runner.seconds > 0 ? std::min(runner.seconds, taken) : taken;
}

// In turns, so that a moment in which others use the machine slows down all of them, until the same one wins again and
// none has become faster.
TacticSelector::Tactic TacticSelector::finish(const Layer& layer, Race& race) const {
  if (race.runners.size() == 1) return race.runners[0].tactic;
  start(layer, race);
  const auto is_open = [](const Runner& runner) { return runner.kernel && runner.is_measured; };
  const auto best = [&] { return std::ranges::min_element(race.runners, {}, &Runner::seconds); };
  for (int round = 0, agreeing = 0; round < kMostRounds && agreeing < kAgreeing; ++round) {
    if (std::ranges::count_if(race.runners, is_open) < 2) break;
    const auto leader = best();
    bool is_calm = true;
    for (Runner& runner : race.runners) {
      if (!is_open(runner)) continue;
      const double before = runner.seconds;
      measure(layer, race, runner, kShare);
      is_calm = is_calm && runner.seconds > kCalm * before;
    }
    agreeing = is_calm && best() == leader ? agreeing + 1 : 0;
    for (Runner& runner : race.runners) {
      if (runner.seconds > kClose * best()->seconds) drop(race, runner);
    }
  }
  for (Runner& runner : race.runners) {
    if (is_open(runner)) cache_->add(machine_, race.key, runner.tactic.name, runner.seconds);
    // The time is the one that later builds will find.
    runner.seconds = cache_->find(machine_, race.key, runner.tactic.name).value_or(runner.seconds);
  }
  const Runner& first = race.runners.front();
  const bool is_first_good = best()->seconds > kWorth * first.seconds;
  return is_first_good ? first.tactic : best()->tactic;
}

}  // namespace assay::engine
