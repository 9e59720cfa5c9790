#include "analysis/allowances.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/node_runs.h"
#include "base/text.h"
#include "compare/runs/pairing.h"
#include "ir/walk.h"

namespace assay::analysis {
namespace {

using tensor::Datum;

// All runs side by side, node by node.
class SideBySide {
 public:
  SideBySide(const ir::Model& model, const std::set<std::string, std::less<>>& wanted, const AllowanceOptions& options)
      : model_(model),
        wanted_(wanted),
        options_(options),
        runs_(model,
              {.max_memory_bytes = options.max_memory_bytes,
               .max_steps = options.max_steps,
               .max_work = options.max_work},
              options.seed, options.least_roundoff) {}

  Allowances run(const tensor::NamedData& feeds) {
    find_last_uses();
    take_inputs(feeds);
    const ir::GraphId graph = model_.main_graph();
    for (const ir::NodeId node : ir::nodes(model_, graph)) {
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
      if (feed != feeds.end()) keep(input, {.nominal = feed->value});
    }
  }

  void keep(ir::ValueId value, Samples samples) {
    const std::string name(model_.text(model_[value].name));
    if (wanted_.contains(name)) note(name, samples);
    values_.insert_or_assign(value, std::move(samples));
  }

  Samples processed(const std::string& name, const Samples& samples) const {
    Samples result{.nominal = options_.post_process(name, samples.nominal), .has_flips = samples.has_flips};
    for (uint32_t run = 0; run < samples.moved.size(); ++run) {
      result.add_run(options_.post_process(name, samples.of(run)));
      if (samples.unstepped.empty()) continue;
      result.unstepped.push_back(result.held(options_.post_process(name, samples.without_steps(run))));
    }
    if (result.nominal.is_tensor() && result.nominal.tensor().count() == samples.steps.size()) {
      result.steps = samples.steps;
    }
    settle(result);
    return result;
  }

  // Allowances of a value, or of each item of a sequence.
  void note(const std::string& name, Samples samples) {
    if (options_.post_process && samples.unknown.empty()) samples = processed(name, samples);
    tensor::NamedData parts;
    compare::flatten(name, samples.nominal, parts);
    if (!samples.unknown.empty() || parts.size() <= 1)
      found_.insert_or_assign(name, allowance_of(samples, options_.least_roundoff));
    if (!samples.unknown.empty()) return;
    for (size_t i = 0; i < parts.size() && parts.size() > 1; ++i) {
      Samples part{.nominal = parts[i].value};
      for (const Datum& moved : samples.moved) {
        tensor::NamedData others;
        compare::flatten(name, moved, others);
        part.add_run(i < others.size() ? others[i].value : Datum());
      }
      settle(part);
      found_.insert_or_assign(parts[i].name, allowance_of(part, options_.least_roundoff));
    }
  }

  // Nothing where no run has data.
  const Samples* find(ir::ValueId value) {
    const auto known = values_.find(value);
    if (known != values_.end()) return &known->second;
    const ir::Value& facts = model_[value];
    if (!facts.constant.valid() || model_[facts.constant].sparse) return nullptr;
    return &values_.emplace(value, Samples{.nominal = Datum(model_[facts.constant].tensor)}).first->second;
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
        keep_results(node, runs_.run({node, operands, captured}, options_.runs));
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

  void keep_results(ir::NodeId node, std::vector<Samples> results) {
    const ir::Node& facts = model_[node];
    for (size_t i = 0; i < facts.results.size() && i < results.size(); ++i) {
      if (facts.results[i].valid()) keep(facts.results[i], std::move(results[i]));
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
  NodeRuns runs_;
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
