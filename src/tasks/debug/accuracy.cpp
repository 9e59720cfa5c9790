#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "debug/accuracy/influence.h"
#include "debug/accuracy/layer_judge.h"
#include "debug/causes/causes.h"
#include "tasks/debug/accused_order.h"
#include "tasks/debug/conversion_remedies.h"
#include "tasks/debug/inner_layers.h"
#include "tasks/debug/mending_remedies.h"
#include "tasks/debug/observed.h"
#include "tasks/debug/remedies.h"
#include "tasks/debug/side_runs.h"
#include "tasks/threads.h"

namespace assay::tasks {
namespace {

constexpr size_t kMostExplained = 5;    // culprits whose cause is looked for
constexpr uint64_t kMostAccused = 8;    // layers of each side that are kept
constexpr uint64_t kMostCosts = 8;      // layers whose effect on the outputs is computed
constexpr double kCostly = 0.1;         // of the outputs' magnitude: remedies are tried though nobody is guilty
constexpr uint64_t kMostOfModels = 32;  // while layers that deviate in both models are told apart
constexpr double kHarmless = 1e-2;      // of the outputs' magnitude: a type's own overflow does not reach them
constexpr double kMostProbeErrors = 8;  // of the outputs, by which they may move because other kernels run,
constexpr double kRoundings = 64;       // and units

class AccuracyJob {
 public:
  AccuracyJob(const AccuracyRequest& request, Observer& observer) : request_(request), observer_(observer) {}

  results::AccuracyHunt run() {
    loaded_ = load_model(request_.model, observer_);
    require_runnable(loaded_);
    inputs_ = make_first_inputs(loaded_, request_.inputs, observer_);
    if (request_.inputs.is_generated() && !request_.saved_outputs.empty()) {
      observer_.warning("saved results are judged with generated inputs: they must be those that they were made from");
    }
    tell_findings(loaded_.findings, observer_);
    SideRuns runs(request_, loaded_.model, inputs_, observer_);
    std::vector<debug::SideValues> sides = runs.collect();
    if (request_.other.is_given()) sides.push_back(other_side(runs));
    Diagnostics ignored;
    feeds_ = as_input_data(loaded_.model, exec::check_feeds(exec::signature_of(loaded_.model), inputs_, ignored));
    judge(std::move(sides));
    runs.add_looks(hunt_.sides);
    explain();
    find_costs();
    if (request_.tries_remedies && !accused_.empty()) find_remedies(runs);
    if (request_.tries_remedies && accused_.empty() && costs_much()) find_remedies_of_costs(runs);
    find_doubt();
    hunt_.model = request_.model.path;
    return std::move(hunt_);
  }

 private:
  debug::SideValues other_side(const SideRuns& runs) {
    other_ = load_model(request_.other, observer_);
    require_runnable(other_);
    OtherRun run = runs.run_other(other_.model);
    hunt_.matches = std::move(run.matches);
    counterpart_.emplace(std::move(run.counterpart));
    return std::move(run.side);
  }

  // The types in which sides keep their values, before these are taken for numbers of the declared ones.
  void note_types(const std::vector<debug::SideValues>& sides) {
    for (const debug::SideValues& side : sides) {
      for (const auto& [value, datum] : side.values) {
        if (debug::is_numeric(datum)) stored_[{side.name, value}] = datum.declared();
      }
    }
  }

  tensor::DType stored(const debug::Accused& accused) const {
    const ir::ValueId value = loaded_.model[accused.node].results[accused.result];
    const auto found = stored_.find({accused.error.side, value});
    return found == stored_.end() ? accused.exact.declared() : found->second;
  }

  void judge(std::vector<debug::SideValues> sides) {
    const ir::Graph& graph = loaded_.model[loaded_.model.main_graph()];
    Counter counter(observer_, "layers", graph.node_count);
    note_types(sides);
    hunt_.is_quantized = !sides.empty() && !sides.back().quantized.empty();
    debug::WalkResult walked = debug::walk(loaded_.model, feeds_, std::move(sides),
                                           {.max_memory_bytes = request_.session.max_memory_bytes,
                                            .most_accused = counterpart_ ? kMostOfModels : kMostAccused,
                                            .most_costly = hunt_.is_quantized ? kMostCosts : 0,
                                            .on_layer = [&] { counter.advance(); }});
    hunt_.layer_count = graph.node_count;
    hunt_.layers = std::move(walked.layers);
    hunt_.sides = std::move(walked.sides);
    unjudged_ = std::move(walked.unjudged);
    costly_ = std::move(walked.costly);
    const auto may_be_harmless = [](const debug::Accused& accused) {
      return accused.is_type_at_fault || accused.is_out_of_range;
    };
    std::erase_if(walked.accused, [&](debug::Accused& accused) {
      const TypeFault fault = type_fault(accused, stored(accused));
      accused.is_type_at_fault |= fault == TypeFault::overflows;
      if (fault == TypeFault::follows) acquit(accused.error);
      return fault == TypeFault::follows;
    });
    const bool are_others = !std::ranges::all_of(walked.accused, may_be_harmless);
    for (debug::Accused& accused : walked.accused) {
      if (!may_be_harmless(accused) || harms(accused, are_others))
        accused_.push_back(std::move(accused));
      else if (accused.is_type_at_fault)
        note_harmless(accused);
    }
    if (sides_of_models()) in_both_ = order_accused(accused_, hunt_.layers, *sides_of_models());
  }

  // Two models on one backend.
  std::optional<ModelSides> sides_of_models() const {
    if (!counterpart_ || request_.backends.empty()) return std::nullopt;
    return ModelSides{hunt_.sides.front().name, hunt_.sides.back().name};
  }

  void acquit(const results::LayerVerdict& error) {
    for (results::LayerVerdict& layer : hunt_.layers) {
      const bool is_it = layer.index == error.index && layer.value == error.value && layer.side == error.side;
      if (!is_it) continue;
      layer.tolerance = INFINITY;
      layer.excess = 0;
    }
  }

  // Lists an overflow that does no harm; numbers near 0 are not listed.
  void note_harmless(const debug::Accused& accused) {
    if (debug::are_finite(accused.given)) return;
    const debug::Cause cause = cause_of(accused);
    hunt_.harmless.push_back({.error = accused.error, .cause = cause.word, .reason = cause.reason});
  }

  debug::Cause cause_of(const debug::Accused& accused) const {
    const debug::QuantizerFault& fault = accused.quantizer_fault;
    if (!fault.text.empty()) return {fault.is_clipped ? "clipped" : "quantized", fault.text};
    return debug::find_cause({.model = loaded_.model,
                              .accused = accused,
                              .stored = stored(accused),
                              .other = is_of_other(accused) ? &*counterpart_ : nullptr});
  }

  // True if the accused layer is a fault. Numbers that the declared type asks for, such as infinity, are none unless
  // the outputs show them: if other layers may be the reason, by themselves.
  bool harms(const debug::Accused& accused, bool are_others) {
    const auto side = std::ranges::find(hunt_.sides, accused.error.side, &results::AccuracySide::name);
    const double harmless = kHarmless * side->output_magnitude;
    if (side->output_error <= harmless) return false;
    if (accused.is_kept_wide) return std::isinf(side->output_error);
    if (!are_others || !accused.is_type_at_fault) return true;
    return influence_.of(accused).value_or(INFINITY) > harmless;
  }

  void explain() {
    for (size_t i = 0; i < accused_.size(); ++i) {
      results::Culprit culprit{.error = accused_[i].error, .is_in_both = i + in_both_ >= accused_.size()};
      if (i < kMostExplained) {
        check_cancelled(observer_);
        const debug::Cause cause = cause_of(accused_[i]);
        culprit.cause = cause.word;
        culprit.reason = cause.reason;
        culprit.share_of_output = influence_.of(accused_[i]);
        culprit.inner = find_inner_layer(
            {request_, loaded_.model, is_of_other(accused_[i]) ? &other_.model : nullptr, inputs_, observer_},
            accused_[i]);
      }
      hunt_.culprits.push_back(std::move(culprit));
    }
  }

  // True if the second model's outputs are far off although no layer is guilty.
  bool costs_much() const {
    return !by_cost_.empty() && hunt_.sides.back().output_error > kCostly * hunt_.sides.back().output_magnitude;
  }

  void find_remedies_of_costs(const SideRuns& runs) {
    const RemedyCase found{request_, loaded_.model, feeds_, runs, by_cost_.front()};
    hunt_.remedies = try_conversions(found, *counterpart_, by_cost_, hunt_.sides.back());
  }

  // Layers by what their quantizers cost the outputs.
  void find_costs() {
    for (debug::Accused& layer : costly_) {
      check_cancelled(observer_);
      const std::optional<double> error = influence_.of(layer);
      const auto place = std::ranges::find_if(
          hunt_.costs, [&](const auto& cost) { return cost.output_error.value_or(0) < error.value_or(0); });
      const auto index = place - hunt_.costs.begin();
      hunt_.costs.insert(place, {.node = layer.error.node,
                                 .op = layer.error.op,
                                 .introduced = layer.error.introduced / layer.error.magnitude,
                                 .output_error = error});
      by_cost_.insert(by_cost_.begin() + index, std::move(layer));
    }
  }

  // A cause that another way to convert may cure: what else was changed in the second model would only be left out.
  static bool is_of_conversion(std::string_view cause) {
    constexpr std::array<std::string_view, 8> kWords = {"overflow",  "underflow", "input_range", "nan",
                                                        "precision", "quantized", "clipped",     "unknown"};
    return std::ranges::find(kWords, cause) != kWords.end();
  }

  bool is_of_other(const debug::Accused& accused) const {
    return request_.other.is_given() && hunt_.sides.back().name == accused.error.side;
  }

  void find_remedies(const SideRuns& runs) {
    const RemedyCase found{request_, loaded_.model, feeds_, runs, accused_.front()};
    if (is_of_other(accused_.front())) {
      if (is_of_conversion(hunt_.culprits.front().cause))
        hunt_.remedies = try_conversions(found, *counterpart_, accused_, hunt_.sides.back());
      return;
    }
    hunt_.remedies = try_remedies(found, hunt_.sides);
    std::ranges::move(try_mending(found, accused_, hunt_.sides), std::back_inserter(hunt_.remedies));
  }

  // Finds a reason for doubt: errors of the outputs are known only for the run that shows all values.
  void find_doubt() {
    if (accused_.empty() && !unjudged_.empty()) hunt_.doubt = "a layer cannot be judged: " + unjudged_;
    for (const results::AccuracySide& side : hunt_.sides) {
      if (side.given_count == 0) hunt_.doubt = fmt::format("{} gives none of the model's values", side.name);
      const double rounding = kRoundings * analysis::roundoff(tensor::DType::float32) * side.output_magnitude;
      if (side.probe_effect.value_or(0) <= kMostProbeErrors * side.output_error + rounding) continue;
      hunt_.doubt = fmt::format(
          "the outputs of {} move by {:.4g} when only they are asked for, and are off by {:.4g} when "
          "all values are: the fault may be in operators that are merged then",
          side.name, *side.probe_effect, side.output_error);
    }
  }

  const AccuracyRequest& request_;
  Observer& observer_;
  LoadedModel loaded_;
  LoadedModel other_;
  std::optional<debug::Counterpart> counterpart_;  // of the other model
  std::map<std::pair<std::string, ir::ValueId>, tensor::DType> stored_;
  size_t in_both_ = 0;  // of the accused, at their end
  tensor::NamedData inputs_;
  std::vector<ops::InputDatum> feeds_;
  debug::Influence influence_{loaded_.model, feeds_};
  std::vector<debug::Accused> accused_;
  std::vector<debug::Accused> costly_;
  std::vector<debug::Accused> by_cost_;  // these, the one that costs the outputs most first
  std::string unjudged_;
  results::AccuracyHunt hunt_;
};

}  // namespace

results::AccuracyHunt debug_accuracy(const AccuracyRequest& request, Observer& observer) {
  const Stopwatch total;
  const TaskThreads threads(request.session.threads);
  results::AccuracyHunt hunt = AccuracyJob(request, observer).run();
  hunt.timings = {{"total_seconds", total.seconds()}};
  return hunt;
}

}  // namespace assay::tasks
