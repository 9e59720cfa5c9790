#include "surgery/extract.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/edit.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "passes/pipelines.h"
#include "surgery/boundary_types.h"
#include "surgery/dead.h"
#include "surgery/frontier.h"
#include "surgery/make_input.h"
#include "surgery/names.h"

namespace assay::surgery {
namespace {

using ir::ValueId;
using ir::ValueKind;

std::vector<ValueId> values_of(const NamedValues& named, const std::vector<Boundary>& boundaries) {
  std::vector<ValueId> values;
  for (const Boundary& boundary : boundaries) {
    const ValueId value = named[boundary.name];
    if (std::ranges::find(values, value) != values.end()) {
      fail(ErrorCode::usage, "`{}` is named twice", printable(boundary.name));
    }
    values.push_back(value);
  }
  return values;
}

std::vector<ValueId> outputs_of(const ir::Model& model) {
  std::vector<ValueId> values;
  for (const ir::Use& use : model.outputs(model.main_graph())) values.push_back(use.value);
  return values;
}

class Extractor {
 public:
  Extractor(ir::Model& model, const Extraction& extraction, Diagnostics& findings)
      : model_(model), edit_(model), extraction_(extraction), findings_(findings) {}

  void run() {
    find_values();
    set_types();
    for (size_t i = 0; i < inputs_.size(); ++i) cut(i);
    if (!outputs_.empty()) edit_.set_outputs(model_.main_graph(), outputs_);
    remove_dead(model_);
    check_complete();
    check_paths();
    set_inputs();
    sort();
    if (!changed_.empty()) renew_shapes(model_, std::move(changed_));
    check_valid();
  }

 private:
  void find_values() {
    const NamedValues named(model_);
    inputs_ = values_of(named, extraction_.inputs);
    outputs_ = values_of(named, extraction_.outputs);
    was_used_.resize(model_.value_slots());
    for (const ValueId input : model_[model_.main_graph()].inputs) was_used_[input.index] = model_[input].first_use;
  }

  void set_types() {
    for (size_t i = 0; i < inputs_.size(); ++i) types_.push_back(input_type(extraction_.inputs[i], inputs_[i]));
    for (size_t i = 0; i < outputs_.size(); ++i) set_output_type(extraction_.outputs[i], outputs_[i]);
  }

  ir::TypeId input_type(const Boundary& boundary, ValueId value) {
    const ir::TypeId known = known_type(model_, value);
    const ir::TypeId type = boundary_type(model_, boundary, known, findings_);
    const bool is_tensor = !type || model_[type].kind == ir::TypeKind::tensor;
    if (is_tensor && (!type || model_[type].dtype == tensor::DType::undefined)) {
      throw Error(ErrorCode::usage,
                  fmt::format("the element type of `{}` is not known, and none is given", printable(boundary.name)))
          .remedied_by("input_types");
    }
    if (is_tensor && !model_[type].ranked) {
      findings_.warn(
          "extract", boundary.name,
          fmt::format("the shape of `{}` is not known; input metadata should include shape", printable(boundary.name)));
    }
    return type;
  }

  void set_output_type(const Boundary& boundary, ValueId value) {
    const ir::TypeId type = boundary_type(model_, boundary, known_type(model_, value), findings_);
    if (type) edit_.set_type(value, type);
    if (type && (model_[type].kind != ir::TypeKind::tensor || model_[type].dtype != tensor::DType::undefined)) return;
    findings_.warn(
        "extract", boundary.name,
        fmt::format("the type of `{}` is not known; output metadata should include type", printable(boundary.name)));
  }

  void cut(size_t i) {
    const ValueId old = inputs_[i];
    const ir::TypeId before = known_type(model_, old);
    inputs_[i] = make_input(model_, old, types_[i]);
    if (inputs_[i] != old) std::ranges::replace(outputs_, old, inputs_[i]);
    if (before && types_[i] != before && !model_.types().refines(types_[i], before)) changed_.push_back(inputs_[i]);
  }

  bool is_of_functions(ir::GraphId graph) const {
    while (model_.enclosing(graph)) graph = model_.enclosing(graph);
    return graph != model_.main_graph();
  }

  bool is_chosen(ValueId value) const { return std::ranges::find(inputs_, value) != inputs_.end(); }

  // Nothing that is left may depend on an input that was not given, or on nothing at all.
  void check_complete() const {
    std::vector<ValueId> missing;
    for (const ValueId id : ir::live_values(model_)) {
      const ir::Value& value = model_[id];
      if (!value.first_use || is_of_functions(value.graph)) continue;
      const bool is_input = value.kind == ValueKind::input && value.graph == model_.main_graph();
      const bool is_left_out = is_input && !inputs_.empty() && !value.constant && !is_chosen(id);
      if (is_left_out || value.kind == ValueKind::undefined) missing.push_back(id);
    }
    if (missing.empty()) return;
    const std::string what = fmt::format("the outputs need {} besides the given inputs; add {}", names_of(missing),
                                         missing.size() == 1 ? "it" : "them");
    throw Error(ErrorCode::usage, what + hint(missing)).remedied_by("inputs");
  }

  // A hint at the inputs that complete the cut, and at outputs that no cut behind the inputs can give.
  std::string hint(const std::vector<ValueId>& missing) const {
    const Frontier frontier = find_frontier(model_, inputs_, missing);
    if (!frontier.outputs.empty()) {
      return fmt::format(" ({} depend{} on none of the given inputs)", names_of(frontier.outputs),
                         frontier.outputs.size() == 1 ? "s" : "");
    }
    if (frontier.values.empty() || frontier.values == missing) return {};
    return fmt::format(", or {}, which complete{} the cut", names_of(frontier.values),
                       frontier.values.size() == 1 ? "s" : "");
  }

  std::string names_of(const std::vector<ValueId>& values) const {
    std::vector<std::string> names;
    for (const ValueId value : values) names.push_back(fmt::format("`{}`", printable(model_.text(model_[value].name))));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  void check_paths() const {
    for (const ValueId value : inputs_) {
      if (model_[value].first_use) continue;
      const std::string name = printable(model_.text(model_[value].name));
      if (value.index >= was_used_.size()) {
        fail(ErrorCode::usage, "no output depends on `{}`: this extraction cuts no path", name);
      }
      findings_.warn("extract", std::string(model_.text(model_[value].name)),
                     fmt::format("no output depends on the input `{}`", name));
    }
  }

  // Old inputs that the cut made useless go; those that nothing ever used are part of the model's interface.
  void set_inputs() {
    std::vector<ValueId> kept = inputs_;
    std::vector<ValueId> unused;
    for (const ValueId input : model_[model_.main_graph()].inputs) {
      if (is_chosen(input)) continue;
      const bool is_needed = model_[input].first_use || (inputs_.empty() && !was_used_[input.index]);
      (is_needed ? kept : unused).push_back(input);
    }
    if (!unused.empty()) edit_.erase(unused);
    edit_.order_inputs(model_.main_graph(), kept);
  }

  // The model's order may have been wrong; a cycle that is left is an error.
  void sort() {
    static constexpr std::array<std::string_view, 1> kSort = {"sort"};
    ir::Rewriter rewriter(model_);
    passes::Pipeline(model_, rewriter, {}).run(kSort);
  }

  void check_valid() const {
    Diagnostics faults;
    ir::verify(model_, faults);
    for (const Diagnostic& fault : faults.all()) {
      if (fault.severity == Severity::error)
        fail(ErrorCode::parse, "the extracted graph is not valid: {}", fault.message);
    }
  }

  ir::Model& model_;
  ir::Edit edit_;
  const Extraction& extraction_;
  Diagnostics& findings_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::vector<ir::TypeId> types_;  // of the inputs
  std::vector<ValueId> changed_;   // inputs whose types say less than before, or something else
  std::vector<bool> was_used_;     // by value, of those that were there before
};

}  // namespace

std::vector<ValueId> boundary_values(const ir::Model& model, const Extraction& extraction) {
  const NamedValues named(model);
  std::vector<ValueId> values = values_of(named, extraction.inputs);
  if (values.empty()) values = model[model.main_graph()].inputs;
  std::vector<ValueId> outputs = values_of(named, extraction.outputs);
  if (outputs.empty()) outputs = outputs_of(model);
  values.insert(values.end(), outputs.begin(), outputs.end());
  return values;
}

bool is_open(const ir::Model& model, const Extraction& extraction) {
  const NamedValues named(model);
  const auto is_known = [&](const Boundary& boundary, bool needs_shape) {
    const ir::Value& value = model[named[boundary.name]];
    if (value.constant) return true;
    const ir::Type type = value.type ? model[value.type] : ir::Type();
    if (type.kind != ir::TypeKind::tensor) return true;
    const bool has_dtype = boundary.dtype || type.dtype != tensor::DType::undefined;
    return has_dtype && (!needs_shape || boundary.shape || type.ranked);
  };
  return !std::ranges::all_of(extraction.inputs, [&](const Boundary& b) { return is_known(b, true); }) ||
         !std::ranges::all_of(extraction.outputs, [&](const Boundary& b) { return is_known(b, false); });
}

void extract(ir::Model& model, const Extraction& extraction, Diagnostics& findings) {
  Extractor(model, extraction, findings).run();
}

}  // namespace assay::surgery
