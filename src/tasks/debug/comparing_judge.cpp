#include "tasks/debug/comparing_judge.h"

#include <algorithm>
#include <cctype>

#include "analysis/allowances.h"
#include "base/error.h"
#include "base/text.h"
#include "compare/compare_output.h"
#include "compare/runs/pairing.h"
#include "exec/sinks.h"
#include "ir/walk.h"
#include "ops/eval.h"
#include "remote/isolated_backend.h"
#include "tensor/elements.h"

namespace assay::tasks {
namespace {

// An error message without names and numbers: what two errors of one kind have in common.
std::string shape_of(const Error& error) {
  std::string shape;
  bool is_quoted = false;
  for (const char c : error.message()) {
    if (c == '`' || c == '\'' || c == '"') is_quoted = !is_quoted;
    if (!is_quoted && !std::isdigit(static_cast<unsigned char>(c))) shape += c;
  }
  return fmt::format("{}:{}", static_cast<int>(error.code()), shape.substr(0, 60));
}

const tensor::NamedDatum* find(const tensor::NamedData& data, std::string_view name) {
  const auto found = std::ranges::find(data, name, &tensor::NamedDatum::name);
  return found == data.end() ? nullptr : &*found;
}

// A floating type that a converted model has for an input in place of the value's own.
std::optional<tensor::DType> other_type(const ir::Model& model, ir::ValueId input, const tensor::Datum& value) {
  const ir::TypeId type = model[input].type;
  if (!type || model[type].kind != ir::TypeKind::tensor || !value.is_tensor()) return std::nullopt;
  const tensor::DType wanted = model[type].dtype, own = value.tensor().dtype();
  if (wanted == own || !tensor::is_floating(wanted) || !tensor::is_floating(own)) return std::nullopt;
  return wanted;
}

tensor::Datum in_type(tensor::DType type, const tensor::Datum& value) {
  const tensor::Tensor& tensor = value.tensor();
  return tensor::Datum(ops::make_rounded(type, tensor.shape(), tensor::load_elements<double>(tensor)));
}

std::string text_of(const results::OutputComparison& output) {
  if (!output.metrics) return fmt::format("`{}`: {}", printable(output.name_a), output.fault);
  return fmt::format("`{}` (max abs {:.4g}, max rel {:.4g})", printable(output.name_a),
                     output.metrics->absolute.greatest, output.metrics->relative.greatest);
}

}  // namespace

ComparingJudge::ComparingJudge(const ComparisonRequest& request, const ir::Model& whole,
                               const tensor::NamedData& inputs, ObservedValues* values)
    : request_(request), inputs_(&inputs), values_(values), options_(request.compare) {
  for (const std::string& path : request.saved_outputs) {
    for (const formats::SavedRun& run : formats::load_results(path)) {
      if (!run.iterations.empty()) saved_ = run.iterations[0].outputs;
    }
  }
  if (!request.saved_outputs.empty() && saved_.empty()) fail(ErrorCode::usage, "the saved results hold no outputs");
  compute_tolerances(whole);
}

void ComparingJudge::look_at(const ir::Model& whole, const tensor::NamedData& inputs, ObservedValues* values) {
  inputs_ = &inputs;
  values_ = values;
  compute_tolerances(whole);
}

void ComparingJudge::compute_tolerances(const ir::Model& whole) {
  if (!request_.computes_tolerance) return;
  std::set<std::string, std::less<>> names;
  for (const ir::ValueId value : ir::live_values(whole)) {
    if (whole[value].graph == whole.main_graph()) names.emplace(whole.text(whole[value].name));
  }
  options_.allowance = [known = analysis::allowances(whole, *inputs_, names, {})](
                           const compare::ComparedAt&, std::string_view name, std::string_view, bool) {
    const auto found = known.find(name);
    return found == known.end() ? nullptr : &found->second;
  };
}

bool ComparingJudge::fails(const ir::Model& model) {
  const std::vector<exec::Feed> feeds = feeds_of(model);
  expected_of_last_ = expected_of(model, feeds);
  const std::variant<tensor::NamedData, Error> outputs = attempt([&] { return run(request_.backend, model, feeds); });
  if (const Error* error = std::get_if<Error>(&outputs)) return judge_error(*error);
  std::string where;
  const bool is_different = differ(std::get<tensor::NamedData>(outputs), expected_of_last_, where);
  if (is_different && !std::exchange(has_failed_, true)) symptom_ = where;
  return is_different && !error_shape_;
}

bool ComparingJudge::judge_error(const Error& error) {
  if (error.code() == ErrorCode::cancelled) throw error;
  if (!std::exchange(has_failed_, true)) {
    error_shape_ = shape_of(error);
    symptom_ = error.line();
  }
  if (error_shape_ == shape_of(error)) return true;
  throw error;
}

std::vector<exec::Feed> ComparingJudge::feeds_of(const ir::Model& model) {
  tensor::NamedData given;
  rounded_feeds_.clear();
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    const std::string name(model.text(model[input].name));
    if (const tensor::NamedDatum* own = find(*inputs_, name)) {
      given.push_back(*own);
      continue;
    }
    const tensor::NamedDatum* const saved = find(saved_, name);
    std::optional<tensor::Datum> value;
    if (saved != nullptr) {
      value = saved->value;
    } else if (values_ != nullptr) {
      value = values_->find(name);
    }
    if (!value && !model[input].constant) {
      fail(ErrorCode::unsupported, "the value that `{}` would be fed is not known", printable(name));
    }
    if (value) given.push_back({name, fed_as(model, input, std::move(*value))});
  }
  Diagnostics ignored;
  return exec::check_feeds(exec::signature_of(model), given, ignored);
}

// The value that a part is fed. A loss in a narrower type before the part begins is not the part's fault: expected
// results follow from the rounded value.
tensor::Datum ComparingJudge::fed_as(const ir::Model& model, ir::ValueId input, tensor::Datum value) {
  const std::optional<tensor::DType> type = other_type(model, input, value);
  if (!type) return value;
  const std::string name(model.text(model[input].name));
  if (!saved_.empty()) {
    fail(ErrorCode::unsupported, "what is saved does not follow from `{}` rounded to {}", printable(name),
         tensor::name(*type));
  }
  tensor::Datum rounded = in_type(*type, value);
  rounded_feeds_.push_back({name, in_type(value.tensor().dtype(), rounded)});
  return rounded;
}

tensor::NamedData ComparingJudge::run(const std::string& backend, const ir::Model& model,
                                      std::span<const exec::Feed> feeds) const {
  const exec::BackendPtr used = request_.isolate ? remote::isolated_backend({backend, request_.timeout_seconds})
                                                 : exec::find_backend(backend, request_.session.search);
  Diagnostics ignored;
  const std::unique_ptr<exec::Session> session = used->prepare(model, request_.session, ignored);
  const std::unique_ptr<exec::Execution> execution = session->make_execution({});
  std::vector<std::string> names;
  for (const exec::Port& output : session->signature().outputs) names.push_back(output.name);
  exec::KeepingSink collector;
  execution->run(feeds, names, collector);
  return std::move(collector.values);
}

tensor::NamedData ComparingJudge::expected_of(const ir::Model& model, std::span<const exec::Feed> feeds) {
  const bool is_reference = saved_.empty() && exec::make_backend(request_.against)->traits().is_reference;
  if (!is_reference && saved_.empty()) return run(request_.against, model, feeds);
  tensor::NamedData expected;
  std::map<ir::ValueId, tensor::Datum> changed;
  if (is_reference) changed = values_->following(rounded_feeds_);
  for (const exec::Port& output : exec::signature_of(model).outputs) {
    const tensor::NamedDatum* const saved = find(saved_, output.name);
    std::optional<tensor::Datum> value;
    if (saved != nullptr) value = saved->value;
    if (is_reference) value = values_->find(output.name, changed);
    if (value) expected.push_back({output.name, std::move(*value)});
  }
  return expected;
}

// The outputs that both sides have.
bool ComparingJudge::differ(const tensor::NamedData& outputs, const tensor::NamedData& expected,
                            std::string& where) const {
  size_t compared = 0;
  bool is_different = false;
  std::string unknown;
  for (const tensor::NamedDatum& output : outputs) {
    const tensor::NamedDatum* const other = find(expected, output.name);
    if (other == nullptr) {
      unknown = output.name;
      continue;
    }
    tensor::NamedData parts_a, parts_b;
    compare::flatten(output.name, output.value, parts_a);
    compare::flatten(other->name, other->value, parts_b);
    is_different = is_different || parts_a.size() != parts_b.size();
    for (size_t i = 0; i < std::min(parts_a.size(), parts_b.size()); ++i) {
      const results::OutputComparison compared_part = compare::compare_output(parts_a[i], parts_b[i], options_, {});
      if (!compared_part.passed && where.empty()) where = text_of(compared_part);
      is_different = is_different || !compared_part.passed;
    }
    ++compared;
  }
  if (compared == 0) fail(ErrorCode::unsupported, "there is nothing to compare its outputs with");
  if (!is_different && !unknown.empty() && values_ == nullptr)
    fail(ErrorCode::unsupported, "`{}` was not saved, and its other outputs are right", printable(unknown));
  return is_different;
}

}  // namespace assay::tasks
