#include "analysis/allowances.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "analysis/moves.h"
#include "analysis/samples.h"
#include "base/text.h"
#include "compare/runs/pairing.h"
#include "ir/walk.h"
#include "ops/interpreter.h"

namespace assay::analysis {
namespace {

using tensor::Datum;
using Data = std::vector<Datum>;

constexpr double kEdgeMargin = 8;       // deviations of an operand from an edge that still count as near
constexpr double kManyFlips = 0.05;     // of the elements of a quantizer
constexpr double kSelectionFactor = 3;  // how much further two of the runs are moved where elements are picked

// What a run does to the nodes of bodies and functions.
class MovedBodies final : public ops::NodeHook {
 public:
  MovedBodies(const ir::Model& model, uint64_t seed) : model_(model), callees_(model), seed_(seed) {}

  void set_run(std::optional<uint32_t> run) { run_ = run; }
  bool is_call(ir::NodeId node) { return callees_[node].function != nullptr; }

  Data run(ir::NodeId node, std::span<const Datum> inputs, const Call& call) override {
    if (is_call(node)) return call(inputs);
    Data given(inputs.begin(), inputs.end());
    Data outputs = call(given);
    if (run_) {
      const Rounding rounding = rounding_of(model_, node, inputs, outputs);
      if (rounding.kind == RoundingKind::rounded && !is_exact(outputs)) {
        const size_t count = rounding.moves_first_only ? 1 : given.size();
        for (uint32_t i = 0; i < count; ++i) given[i] = moved_input(given[i], rounding.inputs, key(node, i));
        outputs = call(given);
      }
      for (uint32_t i = 0; i < outputs.size(); ++i) {
        outputs[i] = moved_output(outputs[i], rounding, given.empty() ? nullptr : given.data(), key(node, kOutput + i));
      }
    } else {
      for (Datum& output : outputs) output = rounded(output);
    }
    return outputs;
  }

  static constexpr uint32_t kOutput = 1U << 16;  // of the operands of a key
  MoveKey key(ir::NodeId node, uint32_t operand) {
    return {seed_ + (calls_++ << 20), node.index, run_.value_or(0), operand};
  }

  static bool is_exact(const Data& outputs) {
    return std::ranges::all_of(outputs, [](const Datum& output) { return equal_bits(output, rounded(output)); });
  }

  static bool equal_bits(const Datum& a, const Datum& b) {
    if (a.kind() != b.kind()) return false;
    if (a.is_none()) return true;
    if (!a.is_tensor() || a.tensor().dtype() == tensor::DType::string) return false;
    if (a.tensor().shape() != b.tensor().shape() || a.tensor().dtype() != b.tensor().dtype()) return false;
    return a.tensor().storage() == b.tensor().storage() || std::ranges::equal(a.tensor().bytes(), b.tensor().bytes());
  }

 private:
  const ir::Model& model_;
  ops::Resolver callees_;
  uint64_t seed_;
  uint64_t calls_ = 0;
  std::optional<uint32_t> run_;
};

// All runs side by side, node by node.
class SideBySide {
 public:
  SideBySide(const ir::Model& model, const std::set<std::string, std::less<>>& wanted, const AllowanceOptions& options)
      : model_(model),
        wanted_(wanted),
        options_(options),
        bodies_(model, options.seed),
        interpreter_(model, {.is_wide = true,
                             .max_memory_bytes = options.max_memory_bytes,
                             .max_steps = options.max_steps,
                             .max_work = options.max_work,
                             .hook = &bodies_}) {}

  Allowances run(const tensor::NamedData& feeds) {
    find_last_uses();
    take_inputs(feeds);
    const ir::GraphId graph = model_.main_graph();
    for (const ir::NodeId node : ir::nodes(model_, graph)) {
      interpreter_.start();
      run_node(node);
      for (const ir::ValueId value : last_used_[node]) values_.erase(value);
      if (options_.on_node) options_.on_node();
    }
    return std::move(found_);
  }

 private:
  void take_inputs(const tensor::NamedData& feeds) {
    for (const ir::ValueId input : model_[model_.main_graph()].inputs) {
      const std::string_view name = model_.text(model_[input].name);
      const auto feed = std::ranges::find(feeds, name, &tensor::NamedDatum::name);
      if (feed != feeds.end()) keep(input, {.nominal = ops::widen(feed->value)});
    }
  }

  void keep(ir::ValueId value, Samples samples) {
    const std::string name(model_.text(model_[value].name));
    if (wanted_.contains(name)) note(name, samples);
    values_.insert_or_assign(value, std::move(samples));
  }

  // Allowances of a value, or of each item of a sequence.
  void note(const std::string& name, Samples samples) {
    if (options_.post_process && samples.unknown.empty()) {
      samples.nominal = options_.post_process(name, samples.nominal);
      for (Datum& moved : samples.moved) moved = options_.post_process(name, moved);
      settle(samples);
    }
    tensor::NamedData parts;
    compare::flatten(name, samples.nominal, parts);
    if (!samples.unknown.empty() || parts.size() <= 1) found_.insert_or_assign(name, allowance_of(samples));
    if (!samples.unknown.empty()) return;
    for (size_t i = 0; i < parts.size() && parts.size() > 1; ++i) {
      Samples part{.nominal = parts[i].value};
      for (const Datum& moved : samples.moved) {
        tensor::NamedData others;
        compare::flatten(name, moved, others);
        part.moved.push_back(i < others.size() ? others[i].value : Datum());
      }
      settle(part);
      found_.insert_or_assign(parts[i].name, allowance_of(part));
    }
  }

  // Nothing where no run has data.
  const Samples* find(ir::ValueId value) {
    const auto known = values_.find(value);
    if (known != values_.end()) return &known->second;
    const ir::Value& facts = model_[value];
    if (!facts.constant.valid() || model_[facts.constant].sparse) return nullptr;
    return &values_.emplace(value, Samples{.nominal = ops::widen(model_[facts.constant].tensor)}).first->second;
  }

  void run_node(ir::NodeId node) {
    std::vector<const Samples*> operands;
    std::string unknown;
    const Samples none;
    for (const ir::Use& use : model_[node].operands) {
      const Samples* samples = use.value.valid() ? find(use.value) : &none;
      if (samples == nullptr) unknown = "one of its inputs is not there";
      operands.push_back(samples != nullptr ? samples : &none);
      if (!operands.back()->unknown.empty()) unknown = operands.back()->unknown;
    }
    std::vector<std::pair<ir::ValueId, const Samples*>> captured;
    if (!model_.bodies(model_[node]).empty()) {
      ir::for_each_operand(model_, node, [&](ir::ValueId value) {
        if (model_[value].graph != model_.main_graph()) return;
        const Samples* samples = find(value);
        if (samples == nullptr) return;
        captured.emplace_back(value, samples);
        if (!samples->unknown.empty()) unknown = samples->unknown;
      });
    }
    if (unknown.empty()) {
      try {
        evaluate({node, operands, captured});
        return;
      } catch (const Error& error) {
        if (error.code() == ErrorCode::cancelled) throw;
        unknown = fmt::format("the reference cannot say: {}", error.what());
      }
    }
    for (const ir::ValueId result : model_[node].results) {
      if (result.valid()) keep(result, {.unknown = unknown});
    }
  }

  struct Evaluation {
    ir::NodeId node;
    const std::vector<const Samples*>& operands;
    const std::vector<std::pair<ir::ValueId, const Samples*>>& captured;

    bool is_spread() const {
      return !std::ranges::all_of(operands, &Samples::is_same) ||
             !std::ranges::all_of(captured, [](const auto& one) { return one.second->is_same(); });
    }
    bool has_flips() const {
      return std::ranges::any_of(operands, &Samples::has_flips) ||
             std::ranges::any_of(captured, [](const auto& one) { return one.second->has_flips; });
    }
    Data inputs(std::optional<uint32_t> run) const {
      Data data;
      for (const Samples* samples : operands) data.push_back(run ? samples->of(*run) : samples->nominal);
      return data;
    }
  };

  Data call(const Evaluation& evaluation, std::optional<uint32_t> run, const Data& inputs) {
    bodies_.set_run(run);
    std::vector<ops::InputDatum> captured;
    for (const auto& [value, samples] : evaluation.captured) {
      captured.push_back({value, run ? samples->of(*run) : samples->nominal});
    }
    return interpreter_.evaluate(evaluation.node, inputs, captured);
  }

  void evaluate(const Evaluation& evaluation) {
    const Data inputs = evaluation.inputs(std::nullopt);
    const Data exact = call(evaluation, std::nullopt, inputs);
    const bool is_call = bodies_.is_call(evaluation.node);
    const bool has_inner = is_call || !model_.bodies(model_[evaluation.node]).empty();
    const Rounding rounding = is_call ? Rounding() : rounding_of(model_, evaluation.node, inputs, exact);
    std::vector<Samples> results(exact.size());
    for (size_t i = 0; i < exact.size(); ++i) results[i].nominal = rounded(exact[i]);
    if (rounding.kind == RoundingKind::random) {
      for (Samples& samples : results) samples.unknown = "it is drawn at random, or computed from what is";
    } else if (evaluation.is_spread() || has_inner || may_move(rounding, exact)) {
      for (uint32_t run = 0; run < kMovedRuns; ++run) take_run(evaluation, rounding, run, results);
      if (rounding.kind == RoundingKind::quantized) find_steps(evaluation, rounding, results);
    }
    const bool may_flip = rounding.kind == RoundingKind::quantized || evaluation.has_flips();
    for (Samples& samples : results) samples.has_flips = may_flip;
    const ir::Node& node = model_[evaluation.node];
    for (size_t i = 0; i < node.results.size() && i < results.size(); ++i) {
      settle(results[i]);
      if (node.results[i].valid()) keep(node.results[i], std::move(results[i]));
    }
  }

  // Whether inputs that are the same in all runs may give different results.
  static bool may_move(const Rounding& rounding, const Data& exact) {
    if (rounding.kind == RoundingKind::quantized) return rounding.inputs > 0;
    return rounding.kind == RoundingKind::rounded && !MovedBodies::is_exact(exact);
  }

  void take_run(const Evaluation& evaluation, const Rounding& rounding, uint32_t run, std::vector<Samples>& results) {
    Data inputs = evaluation.inputs(run);
    bodies_.set_run(run);
    const bool is_outermost = run < 2;
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      const MoveKey key = bodies_.key(evaluation.node, i);
      const Samples& samples = *evaluation.operands[i];
      if (rounding.kind == RoundingKind::decided && is_outermost) {
        inputs[i] = moved_to_edges(samples.nominal, reach(samples, kEdgeMargin), key);
      } else if (rounding.kind == RoundingKind::selected && is_outermost) {
        inputs[i] = amplified(samples.nominal, inputs[i], kSelectionFactor);
      } else {
        const bool is_moved = i == 0 || !rounding.moves_first_only;
        inputs[i] = moved_input(inputs[i], is_moved ? rounding.inputs : 0, key);
      }
    }
    Data outputs = call(evaluation, run, inputs);
    for (uint32_t i = 0; i < outputs.size() && i < results.size(); ++i) {
      const MoveKey key = bodies_.key(evaluation.node, MovedBodies::kOutput + i);
      results[i].moved.push_back(moved_output(outputs[i], rounding, inputs.empty() ? nullptr : inputs.data(), key));
    }
  }

  // What quantized results become when their operands are moved to the ends of their reach. Few that may flip are made
  // to do so; of many, enough do by themselves.
  void find_steps(const Evaluation& evaluation, const Rounding& rounding, std::vector<Samples>& results) {
    std::array<Data, 2> ends;
    for (uint32_t run = 0; run < 2; ++run) {
      Data inputs = evaluation.inputs(std::nullopt);
      for (uint32_t i = 0; i < inputs.size(); ++i) {
        const std::vector<float> allowed = widened(*evaluation.operands[i], rounding.inputs);
        inputs[i] = moved_to_edges(inputs[i], allowed, {.run = run, .operand = i});
      }
      ends[run] = call(evaluation, std::nullopt, inputs);
    }
    for (size_t i = 0; i < results.size() && i < ends[0].size() && i < ends[1].size(); ++i) {
      for (const Data& end : ends) add_steps(end[i], results[i]);
      const auto may_flip = std::ranges::count_if(results[i].steps, [](float step) { return step > 0; });
      const auto count = static_cast<double>(results[i].steps.size());
      const bool is_integer = results[i].nominal.is_tensor() && tensor::is_integer(results[i].nominal.declared());
      if (!is_integer || may_flip == 0 || static_cast<double>(may_flip) > kManyFlips * count) continue;
      const Flips flips{results[i].nominal, ends[0][i], ends[1][i]};
      for (uint32_t run = 0; run < kMovedRuns; ++run)
        results[i].moved[run] = with_flips(results[i].moved[run], flips, run);
    }
  }

  // What an operand may be away, and so many roundoffs more: of each element and of the greatest, since quantizers
  // may scale the range.
  static std::vector<float> widened(const Samples& samples, double roundoffs) {
    const Datum& nominal = samples.nominal;
    if (!nominal.is_tensor() || !tensor::is_floating(nominal.declared())) return {};
    std::vector<float> allowed = reach(samples, kEdgeMargin);
    allowed.resize(nominal.tensor().count());
    const std::vector<double> values = tensor::load_elements<double>(nominal.tensor());
    const double share = roundoffs * arithmetic_roundoff(nominal.declared());
    double greatest = 0;
    for (const double value : values) greatest = std::max(greatest, std::isfinite(value) ? std::abs(value) : 0);
    for (size_t i = 0; i < values.size(); ++i) {
      allowed[i] += static_cast<float>(share * (std::abs(values[i]) + greatest));
    }
    return allowed;
  }

  static void add_steps(const Datum& moved, Samples& samples) {
    const Datum& nominal = samples.nominal;
    const bool fits = moved.is_tensor() && nominal.is_tensor() && moved.tensor().shape() == nominal.tensor().shape();
    if (!fits || tensor::kind(nominal.declared()) == tensor::DTypeKind::complex) return;
    const std::vector<double> a = tensor::load_elements<double>(nominal.tensor());
    const std::vector<double> b = tensor::load_elements<double>(moved.tensor());
    samples.steps.resize(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      const auto step = static_cast<float>(std::abs(a[i] - b[i]));
      samples.steps[i] = std::max(samples.steps[i], step);
    }
  }

  // Drops what is the same in all runs; other shapes in one of them are not followed.
  static void settle(Samples& samples) {
    const Datum& nominal = samples.nominal;
    const auto has_form = [&](const Datum& moved) {
      if (moved.kind() != nominal.kind()) return false;
      return !moved.is_tensor() || moved.tensor().shape() == nominal.tensor().shape();
    };
    if (!std::ranges::all_of(samples.moved, has_form)) {
      samples.unknown = "its shape depends on roundings";
    } else if (std::ranges::all_of(samples.moved,
                                   [&](const Datum& moved) { return MovedBodies::equal_bits(moved, nominal); })) {
      samples.moved.clear();
    }
  }

  void find_last_uses() {
    std::map<ir::ValueId, ir::NodeId> last;
    for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) {
      ir::for_each_operand(model_, node, [&](ir::ValueId value) { last[value] = node; });
      for (const ir::ValueId result : model_[node].results) last.emplace(result, node);
    }
    for (const auto& [value, node] : last) last_used_[node].push_back(value);
  }

  const ir::Model& model_;
  const std::set<std::string, std::less<>>& wanted_;
  const AllowanceOptions& options_;
  MovedBodies bodies_;
  ops::Interpreter interpreter_;
  std::map<ir::ValueId, Samples> values_;
  std::map<ir::NodeId, std::vector<ir::ValueId>> last_used_;
  Allowances found_;
};

}  // namespace

Allowances allowances(const ir::Model& model, const tensor::NamedData& feeds,
                      const std::set<std::string, std::less<>>& wanted, const AllowanceOptions& options) {
  return SideBySide(model, wanted, options).run(feeds);
}

}  // namespace assay::analysis
