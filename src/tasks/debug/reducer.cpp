#include "tasks/debug/reducer.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/text.h"
#include "debug/open_bodies.h"
#include "ir/naming.h"
#include "ir/queries.h"
#include "surgery/boundary_types.h"
#include "tasks/debug/reproducer.h"
#include "tasks/save.h"

namespace assay::tasks {
namespace {

std::string words_for(size_t node_count) { return fmt::format("{} node{}", node_count, node_count == 1 ? "" : "s"); }

// The identity of a model: the names and operators that it computes.
std::string model_identity(const ir::Model& model) {
  std::string text;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    text += fmt::format("{} {}\n", model[node].name, model.text(model[node].op));
  }
  return fmt::format("{:016x}", checksum(std::as_bytes(std::span(text))));
}

std::optional<tensor::Datum> find_value(const tensor::NamedData& data, std::string_view name) {
  const auto found = std::ranges::find(data, name, &tensor::NamedDatum::name);
  return found == data.end() ? std::nullopt : std::optional(found->value);
}

debug::Subset all_of(const debug::Parts& parts) {
  debug::Subset all(parts.count());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

ReducedBase::ReducedBase(ir::Model whole, tensor::NamedData given, uint64_t max_memory_bytes)
    : model(std::move(whole)), inputs(std::move(given)), parts(model), values(model, inputs, max_memory_bytes) {}

Reducer::Reducer(const ReduceRequest& request, LoadedModel& loaded, const ir::Model& as_it_is, tensor::NamedData inputs,
                 Observer& observer)
    : request_(request),
      as_it_is_(as_it_is),
      observer_(observer),
      loop_(request.check, request.comparison.backend.empty() ? request.artifact : "", observer),
      base_(std::make_shared<ReducedBase>(std::move(loaded.model), std::move(inputs),
                                          request.comparison.session.max_memory_bytes)) {
  identity_ = command_identity(request.check) + model_identity(base_->model);
  if (request.keeps_artifact) loop_.keep_artifact();
  if (compares()) {
    const bool has_saved = !request.comparison.saved_outputs.empty();
    comparing_.emplace(request.comparison, base_->model, base_->inputs, has_saved ? nullptr : &base_->values);
  }
  report_.model = request.model.path;
  report_.node_count = base_->parts.count();
}

results::ReduceReport Reducer::run() {
  if (report_.node_count == 0) fail(ErrorCode::usage, "the model has no nodes: there is nothing to reduce");
  find_units();
  if (compares()) judge_whole();  // says what failing means
  if (comparing_) {
    report_.symptom = comparing_->symptom();
    report_.differs_in_values = comparing_->differs_in_values();
    if (of_whole_ == debug::Verdict::passes) refuse_if_the_file_fails();
    if (of_whole_ == debug::Verdict::fails && is_saved()) require_saved_values();
  }
  if (!of_whole_ || *of_whole_ == debug::Verdict::fails) reduce();
  report_.is_reproduced = !found_.empty();
  if (report_.is_reproduced) {
    while (open()) reduce();
    save_result();
  } else if (request_.saves_what_passes && !request_.output.empty()) {
    save_copy(base_->model, request_.output);
  }
  report_.loop = loop_.take();
  if (of_whole_ == debug::Verdict::unresolved) {
    const std::string_view fault = report_.loop.iterations[whole_index_].fault;
    fail(ErrorCode::unsupported, "the whole model cannot be judged: {}", fault);
  }
  return std::move(report_);
}

// A backend that reads the file by itself may fail of what is lost when the model is written anew.
void Reducer::refuse_if_the_file_fails() {
  ComparisonRequest of_file = request_.comparison;
  of_file.session.path = runnable_path(request_.model);
  if (of_file.session.path.empty() || !request_.shapes.empty()) return;
  ObservedValues values(as_it_is_, base_->inputs, of_file.session.max_memory_bytes);
  ComparingJudge judge(of_file, as_it_is_, base_->inputs, is_saved() ? nullptr : &values);
  Trial trial{.subject = "the file as it is", .identity = identity_ + "file"};
  trial.passes = [&] { return !judge.fails(as_it_is_); };
  if (loop_.judge(trial) != debug::Verdict::fails) return;
  fail(ErrorCode::unsupported,
       "the model fails as it is but not when it is written anew: `surgeon sanitize` cures it; it fails with: {}",
       judge.symptom());
}

// Saved results of another model or backend say what is right; what this model computes does not. Between values that
// were not saved nothing can be judged.
void Reducer::find_units() {
  const ir::Model& model = base_->model;
  units_ = base_->parts.units([&](ir::ValueId value) {
    return !is_saved() || find_value(comparing_->saved(), model.text(model[value].name)).has_value();
  });
}

void Reducer::require_saved_values() const {
  const ir::Model& model = base_->model;
  size_t count = 0, saved = 0;
  for (uint32_t part = 0; part < base_->parts.count(); ++part) {
    for (const ir::ValueId value : model[base_->parts.node(part)].results) {
      if (!value || model[value].name == ir::kEmpty) continue;
      ++count;
      saved += find_value(comparing_->saved(), model.text(model[value].name)) ? 1 : 0;
    }
  }
  if (saved == count || base_->parts.count() == 1) return;
  const std::string fault = fmt::format("only {} of {} values were saved", saved, count);
  if (units_.size() == 1) {
    throw Error(ErrorCode::unsupported, fault + ": parts cannot be judged").remedied_by("all_values_saved");
  }
  observer_.warning(fault + ": nodes between them are judged together");
}

debug::Subset Reducer::parts_of(const debug::Subset& units) const {
  debug::Subset parts;
  for (const uint32_t unit : units) parts.insert(parts.end(), units_[unit].begin(), units_[unit].end());
  std::ranges::sort(parts);
  return parts;
}

std::optional<tensor::Datum> Reducer::value_of(ReducedBase& base, std::string_view name) const {
  return is_saved() ? find_value(comparing_->saved(), name) : base.values.find(name);
}

debug::Verdict Reducer::judge_whole() {
  whole_index_ = loop_.count();
  of_whole_ = loop_.judge(trial_of(base_->model, base_->parts.count(), "whole"));
  return *of_whole_;
}

void Reducer::reduce() {
  const auto judge_all = [this](std::span<const debug::Subset> subsets, uint64_t remaining) {
    if (!of_whole_ && subsets[0].size() == units_.size()) return std::vector{judge_whole()};
    std::vector<debug::Subset> parts;
    for (const debug::Subset& units : subsets) parts.push_back(parts_of(units));
    return judge(parts, remaining);
  };
  const debug::MinimizeOptions options = {.is_linear = request_.is_linear,
                                          .at_a_time = compares() ? 1 : request_.check.jobs,
                                          .knows_whole_fails = of_whole_.has_value() || !report_.opened.empty()};
  found_ = parts_of(debug::minimize(static_cast<uint32_t>(units_.size()), judge_all, options));
  if (!found_.empty()) found_ = closed(found_);
}

// Goes on with the nodes of bodies and functions in the places of what holds them, if that fails too.
bool Reducer::open() {
  if (!request_.reduces_inputs || !request_.reduces_outputs) return false;
  ir::Model reduced = cut(*base_, found_);
  tensor::NamedData inputs = inputs_of(reduced);
  ObservedValues values(reduced, inputs, request_.comparison.session.max_memory_bytes);
  std::optional<debug::Opened> opened =
      debug::open_bodies(reduced, [&](ir::ValueId value) { return values.find(value); });
  if (!opened) return false;
  auto base = std::make_shared<ReducedBase>(std::move(opened->model), std::move(inputs),
                                            request_.comparison.session.max_memory_bytes);
  if (comparing_) comparing_->look_at(base->model, base->inputs, trusted(*base));
  const std::string identity = fmt::format("opened {}", fmt::join(opened->nodes, " "));
  if (loop_.judge(trial_of(base->model, base->parts.count(), identity)) == debug::Verdict::fails) {
    report_.opened.insert(report_.opened.end(), opened->nodes.begin(), opened->nodes.end());
    base_ = std::move(base);
    find_units();
    found_ = all_of(base_->parts);
    return true;
  }
  if (comparing_) comparing_->look_at(base_->model, base_->inputs, trusted(*base_));
  return false;
}

debug::Subset Reducer::closed(const debug::Subset& subset) const {
  if (!request_.reduces_inputs) return base_->parts.with_producers(subset);
  return request_.reduces_outputs ? subset : base_->parts.with_users(subset);
}

// A model that cannot be cut so is no failure and no success.
std::vector<debug::Verdict> Reducer::judge(std::span<const debug::Subset> subsets, uint64_t remaining) {
  std::vector<ir::Model> models(subsets.size());
  std::vector<debug::Subset> kept;
  std::vector<Trial> trials;
  for (size_t i = 0; i < subsets.size(); ++i) {
    kept.push_back(closed(subsets[i]));
    const std::string identity = fmt::format("{:016x}", checksum(std::as_bytes(std::span(kept.back()))));
    std::variant<ir::Model, Error> made = attempt([&] { return cut(*base_, kept.back()); });
    if (const Error* error = std::get_if<Error>(&made)) {
      trials.push_back({.subject = words_for(kept.back().size()), .identity = identity_ + identity});
      trials.back().passes = [error = *error]() -> bool { throw Error(error); };
      continue;
    }
    models[i] = std::move(std::get<ir::Model>(made));
    trials.push_back(trial_of(models[i], kept.back().size(), identity));
    if (!comparing_) trials.back().make = [this, &model = models[i]](const std::string& path) { save_to(model, path); };
  }
  const std::vector<debug::Verdict> verdicts = loop_.judge(trials, remaining);
  for (size_t i = 0; i < subsets.size(); ++i) {
    if (verdicts[i] == debug::Verdict::passes) note_good(kept[i]);
  }
  return verdicts;
}

Trial Reducer::trial_of(const ir::Model& model, size_t node_count, std::string identity) {
  Trial trial{.subject = words_for(node_count),
              .identity = fmt::format("{}-{}-{}", identity_, base_->parts.count(), identity),
              .node_count = node_count};
  if (comparing_)
    trial.passes = [this, &model] { return !comparing_->fails(model); };
  else
    trial.make = [this, &model](const std::string& path) { save_copy(model, path); };
  return trial;
}

void Reducer::save_copy(const ir::Model& model, const std::string& path) const {
  ir::Model complete = model.copy();
  save_to(complete, path);
}

void Reducer::save_to(ir::Model& model, const std::string& path) const {
  surgery::complete_outputs(model);
  onnx::SaveOptions options = request_.save;
  if (options.external_name) options.external_name = path + ".data";
  onnx::save(model, path, options);
}

ir::Model Reducer::cut(ReducedBase& base, const debug::Subset& parts) {
  debug::SubgraphOptions options;
  options.rule = compares() ? debug::CutRule::inputs : debug::CutRule::branches;
  options.value_of = [this, &base](ir::ValueId value) {
    return value_of(base, base.model.text(base.model[value].name));
  };
  options.on_frozen = [this](const std::string& name) {
    if (!frozen_.insert(name).second) return;
    if (frozen_.size() == 1 && request_.inputs.is_generated()) {
      observer_.warning(
          "values that are frozen come from a run on generated inputs. Please ensure that you have provided a data "
          "loader argument directly to `debug reduce` if the check gets other inputs");
    }
    observer_.info(fmt::format("Freezing tensor: {} to eliminate branches.", printable(name)));
  };
  return debug::subgraph(base.parts, parts, options);
}

void Reducer::note_good(const debug::Subset& parts) {
  if (!request_.least_good.empty()) good_.push_back({base_, parts});
}

// The largest of those smaller than the result, otherwise the smallest one.
void Reducer::save_good() {
  if (request_.least_good.empty()) return;
  const Good* best = nullptr;
  const size_t size = found_.size();
  for (const Good& good : good_) {
    const bool is_smaller = good.parts.size() < size;
    const bool was_smaller = best != nullptr && best->parts.size() < size;
    const bool is_closer = best == nullptr || (is_smaller ? !was_smaller || good.parts.size() > best->parts.size()
                                                          : !was_smaller && good.parts.size() < best->parts.size());
    if (is_closer) best = &good;
  }
  if (best == nullptr) {
    observer_.warning("no model on the way passed: there is no minimal good model");
    return;
  }
  ir::Model model = cut(*best->base, best->parts);
  report_.good_node_count = best->parts.size();
  onnx::SaveOptions options = request_.save;
  save_model(model, request_.least_good, options, observer_);
}

void Reducer::save_result() {
  ir::Model reduced = cut(*base_, found_);
  if (request_.shrinks) shrink(reduced);
  if (request_.anonymizes) anonymize(reduced);
  describe(reduced);
  confirm(reduced);
  if (!request_.output.empty()) save_model(reduced, request_.output, request_.save, observer_);
  report_.output = request_.output;
  save_good();
  if (request_.reproducer.empty()) return;
  write_reproducer(reduced);
}

// Several nodes were judged together and each without the others when the search ended; one alone may have been judged
// in its course.
void Reducer::confirm(const ir::Model& reduced) {
  if (found_.size() > 1 && !changed_ && report_.opened.empty() && !request_.is_linear) return;
  report_.is_confirmed = loop_.judge(trial_of(reduced, found_.size(), "again")) == debug::Verdict::fails;
  if (!report_.is_confirmed)
    observer_.warning("the reduced model passed when it was judged once more: the check is flaky");
}

void Reducer::shrink(ir::Model& reduced) {
  const auto fails_still = [this](const ir::Model& changed, const tensor::NamedData& inputs, const std::string& what) {
    return still_fails(changed, inputs, what);
  };
  debug::Shrunk shrunk = debug::shrink(reduced, inputs_of(reduced), fails_still);
  report_.shrunk = std::move(shrunk.changes);
  changed_.reset();
  if (!report_.shrunk.empty()) look_at(shrunk.model, std::move(shrunk.inputs));
  reduced = std::move(shrunk.model);
}

void Reducer::write_reproducer(ir::Model& reduced) {
  Reproducer reproducer{.model = reduced, .text = request_.reproducer_text(report_)};
  const exec::Signature signature = exec::signature_of(reduced);
  const auto add = [&](const std::vector<exec::Port>& ports, tensor::NamedData& data) {
    for (const exec::Port& port : ports) {
      if (std::optional<tensor::Datum> value = value_of(result_base(), port.name)) data.push_back({port.name, *value});
    }
  };
  add(signature.inputs, reproducer.inputs);
  add(signature.outputs, reproducer.expected);
  if (comparing_ && !comparing_->last_expected().empty()) reproducer.expected = comparing_->last_expected();
  tasks::write_reproducer(reproducer, request_.reproducer);
  report_.reproducer = request_.reproducer;
  observer_.info("Saving what reproduces the failure to: " + printable(request_.reproducer));
}

// Names and weights first, then names alone.
void Reducer::anonymize(ir::Model& reduced) {
  for (const bool replaces_weights : {true, false}) {
    const debug::AnonymizeOptions options = {.renames_interface = compares(), .replaces_weights = replaces_weights};
    std::optional<debug::AnonymousModel> anonymous = debug::anonymize(reduced, options);
    if (!anonymous) return observer_.warning("a model with bodies or functions is not made anonymous");
    const std::string what = replaces_weights ? "names, weights" : "names";
    tensor::NamedData inputs = changed_ ? changed_->inputs : inputs_of(reduced);
    for (tensor::NamedDatum& input : inputs) {
      if (const auto renamed = anonymous->names.find(input.name); renamed != anonymous->names.end())
        input.name = renamed->second;
    }
    if (!still_fails(anonymous->model, std::move(inputs), what)) continue;
    report_.anonymized.push_back("names");
    if (replaces_weights) report_.anonymized.push_back("weights");
    reduced = std::move(anonymous->model);
    return;
  }
  observer_.warning("the model does not fail any more under other names: it is not anonymous");
}

bool Reducer::still_fails(const ir::Model& changed, tensor::NamedData inputs, const std::string& what) {
  std::shared_ptr<ReducedBase> before = std::move(changed_);
  look_at(changed, std::move(inputs));
  Trial trial = trial_of(changed, found_.size(), what);
  trial.subject = what;
  if (loop_.judge(trial) == debug::Verdict::fails) return true;
  changed_ = std::move(before);
  if (comparing_) comparing_->look_at(result_base().model, result_base().inputs, trusted(result_base()));
  return false;
}

void Reducer::look_at(const ir::Model& changed, tensor::NamedData inputs) {
  changed_ =
      std::make_shared<ReducedBase>(changed.copy(), std::move(inputs), request_.comparison.session.max_memory_bytes);
  if (comparing_) comparing_->look_at(changed_->model, changed_->inputs, trusted(*changed_));
}

// Inputs for a part of the model.
tensor::NamedData Reducer::inputs_of(const ir::Model& part) {
  tensor::NamedData inputs = base_->inputs;
  for (const ir::ValueId input : part[part.main_graph()].inputs) {
    const std::string name(part.text(part[input].name));
    if (std::ranges::find(inputs, name, &tensor::NamedDatum::name) != inputs.end()) continue;
    if (std::optional<tensor::Datum> value = value_of(*base_, name)) inputs.push_back({name, std::move(*value)});
  }
  return inputs;
}

void Reducer::describe(const ir::Model& model) {
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    const std::string_view op = model.text(model[node].op);
    if (!ir::is_constant_node(model, node))
      report_.nodes.push_back({std::string(ir::known_name(model, node)), std::string(op)});
  }
  const exec::Signature signature = exec::signature_of(model);
  for (const exec::Port& input : signature.inputs) report_.inputs.push_back(input.name);
  for (const exec::Port& output : signature.outputs) report_.outputs.push_back(output.name);
}

}  // namespace assay::tasks
