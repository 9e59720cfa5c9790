#include "tasks/debug/side_runs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <malloc.h>

#include "base/error.h"
#include "base/text.h"
#include "debug/accuracy/distances.h"
#include "debug/accuracy/quantizers.h"
#include "exec/feeds.h"
#include "ir/queries.h"
#include "match/models/match_models.h"
#include "remote/isolated_backend.h"
#include "tasks/permitted.h"
#include "tensor/elements.h"

namespace assay::tasks {
namespace {

class MapSink final : public exec::TensorSink {
 public:
  explicit MapSink(std::function<void(std::string_view, const tensor::Datum&)> take) : take_(std::move(take)) {}
  void accept(std::string_view name, const tensor::Datum& value) override { take_(name, value); }

 private:
  std::function<void(std::string_view, const tensor::Datum&)> take_;
};

bool has_same_bits(const tensor::Datum& a, const tensor::Datum& b) {
  if (!a.is_tensor() || !b.is_tensor()) return a.kind() == b.kind();
  return a.tensor().shape() == b.tensor().shape() && std::ranges::equal(a.tensor().bytes(), b.tensor().bytes());
}

double greatest_difference(const tensor::Datum& a, const tensor::Datum& b) {
  if (!debug::is_numeric(a) || !debug::is_numeric(b)) return 0;
  if (a.tensor().shape() != b.tensor().shape()) return INFINITY;
  return debug::greatest_distance(debug::numbers_of(a), debug::numbers_of(b));
}

// In memory of its own: a backend's may keep its session.
tensor::Datum detached(const tensor::Datum& datum) {
  if (!debug::is_numeric(datum)) return {};
  const tensor::Tensor& tensor = datum.tensor();
  const tensor::Bytes bytes = tensor.bytes();
  return {tensor::Tensor(tensor.dtype(), tensor.shape(), tensor::make_owned({bytes.begin(), bytes.end()})),
          datum.declared()};
}

double greatest_move(const tensor::NamedData& given, const tensor::NamedData& alone) {
  double greatest = 0;
  for (const tensor::NamedDatum& output : alone) {
    const auto tapped = std::ranges::find(given, output.name, &tensor::NamedDatum::name);
    if (tapped != given.end()) greatest = std::max(greatest, greatest_difference(output.value, tapped->value));
  }
  return greatest;
}

// The results of nodes, by name.
std::map<std::string_view, ir::ValueId> results_of(const ir::Model& model) {
  std::map<std::string_view, ir::ValueId> names;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    for (const ir::ValueId value : model[node].results) {
      if (value && model[value].name != ir::kEmpty) names.emplace(model.text(model[value].name), value);
    }
  }
  return names;
}

std::set<std::string_view> output_names(const ir::Model& model) {
  std::set<std::string_view> names;
  for (const ir::Use& use : model.outputs(model.main_graph())) names.insert(model.text(model[use.value].name));
  return names;
}

// Codes of the other model with their scales and zero points, by name, as its run shows them.
class CodeValues {
 public:
  CodeValues(const ir::Model& other, debug::Quantizers quantizers) : other_(other), quantizers_(std::move(quantizers)) {
    for (const auto& [node, values] : quantizers_) {
      for (const auto& [value, quantizer] : values) {
        for (const ir::ValueId part : {quantizer.codes, quantizer.scale, quantizer.zero_point}) {
          if (ir::producer(other_, part)) shown_.try_emplace(std::string(other_.text(other_[part].name)));
        }
      }
    }
  }

  void add_names(std::set<std::string_view>& names) const {
    for (const auto& [name, datum] : shown_) names.insert(name);
  }
  void take(std::string_view name, const tensor::Datum& value) {
    if (const auto found = shown_.find(name); found != shown_.end()) found->second = detached(value);
  }

  std::map<ir::NodeId, debug::QuantizedValues> quantized() const {
    std::map<ir::NodeId, debug::QuantizedValues> all;
    for (const auto& [node, values] : quantizers_) {
      for (const auto& [value, quantizer] : values) {
        const tensor::Datum scale = datum(quantizer.scale);
        if (!scale.is_tensor()) continue;
        const tensor::Datum codes = datum(quantizer.codes);
        all[node][value] = {.codes = quantizer.is_turned ? debug::turned(codes) : codes,
                            .scale = scale,
                            .zero_point = datum(quantizer.zero_point),
                            .axis = quantizer.is_turned ? 0 : quantizer.axis,
                            .block = quantizer.block,
                            .factors = quantizer.factors};
      }
    }
    return all;
  }

 private:
  tensor::Datum datum(ir::ValueId value) const {
    if (!value) return {};
    if (const ir::TensorId id = other_[value].constant) return tensor::Datum(other_[id].tensor);
    const auto shown = shown_.find(other_.text(other_[value].name));
    return shown == shown_.end() ? tensor::Datum() : shown->second;
  }

  const ir::Model& other_;
  debug::Quantizers quantizers_;
  std::map<std::string, tensor::Datum, std::less<>> shown_;
};

}  // namespace

SideRuns::SideRuns(const AccuracyRequest& request, const ir::Model& model, const tensor::NamedData& inputs,
                   Observer& observer)
    : request_(request), model_(model), observer_(observer) {
  Diagnostics findings;
  feeds_ = exec::check_feeds(exec::signature_of(model), inputs, findings);
  tell_findings(findings, observer);
  names_ = results_of(model);
  for (const exec::Port& output : exec::signature_of(model).outputs) outputs_.push_back(output.name);
}

std::vector<debug::SideValues> SideRuns::collect() {
  std::vector<debug::SideValues> sides;
  std::map<std::string, int> numbers;
  for (const std::string& backend : request_.backends) {
    const std::string plain = exec::make_backend(backend)->side_name(request_.session.settings);
    const int before = numbers[plain]++;
    sides.push_back(run(backend, before == 0 ? plain : fmt::format("{} ({})", plain, before + 1)));
  }
  for (const std::string& path : request_.saved_outputs) {
    observer_.info("Loading inference results from " + printable(path));
    for (const formats::SavedRun& run : formats::load_results(path)) sides.push_back(load(run));
  }
  if (sides.empty() && !request_.other.is_given())
    fail(ErrorCode::usage, "there is nothing to judge: no backend, and no saved results");
  return sides;
}

exec::BackendPtr SideRuns::make(const std::string& backend) const {
  const bool is_apart = exec::make_backend(backend)->loads_strangers(request_.session.settings);
  if (request_.isolate || is_apart) return remote::isolated_backend({backend, request_.timeout_seconds});
  return exec::find_backend(backend, request_.session.search);
}

debug::SideValues SideRuns::run(const std::string& backend, const std::string& name) {
  // Before there are values to be kept; of the two sessions, only one is in memory.
  const Alone alone = run_alone(backend);
  check_cancelled(observer_);
  observer_.verbose(fmt::format("{}: all values are asked for", name));
  debug::SideValues side{
      .name = name, .backend = backend, .least_unit = permitted_roundoff({backend}, request_.session.settings)};
  const std::variant<double, Error> moved = attempt([&] { return run_tapped(backend, alone.outputs, side); });
  malloc_trim(0);  // else what the session had may stay beside the next one
  Look& look = looks_.emplace_back(Look{.is_deterministic = alone.is_deterministic});
  if (const double* const effect = std::get_if<double>(&moved)) {
    look.probe_effect = *effect;
    return side;
  }
  const Error& error = std::get<Error>(moved);
  if (error.code() != ErrorCode::backend) throw error;
  observer_.warning(fmt::format("{}: only the outputs are judged, because it fails where all values are asked for: {}",
                                name, error.line()));
  side.values.clear();
  for (const tensor::NamedDatum& output : alone.outputs) {
    if (names_.contains(output.name)) side.values[names_.at(output.name)] = output.value;
  }
  return side;
}

SideRuns::Alone SideRuns::run_alone(const std::string& backend) const {
  const std::unique_ptr<exec::Session> session = prepare(backend, model_, request_.session.settings);
  const std::unique_ptr<exec::Execution> execution = session->make_execution({});
  Alone alone{.outputs = run_once(*execution)};
  check_cancelled(observer_);
  for (const tensor::NamedDatum& again : run_once(*execution)) {
    const auto before = std::ranges::find(alone.outputs, again.name, &tensor::NamedDatum::name);
    alone.is_deterministic = alone.is_deterministic && has_same_bits(before->value, again.value);
  }
  for (tensor::NamedDatum& output : alone.outputs) output.value = detached(output.value);
  return alone;
}

double SideRuns::run_tapped(const std::string& backend, const tensor::NamedData& alone, debug::SideValues& side) const {
  exec::SessionOptions options = request_.session;
  const std::set<std::string, std::less<>> outputs(outputs_.begin(), outputs_.end());
  for (const auto& [value_name, value] : names_) {
    if (!outputs.contains(value_name)) options.values.emplace_back(value_name);
  }
  Diagnostics findings;
  const std::unique_ptr<exec::Session> session = make(backend)->prepare(model_, options, findings);
  tell_findings(findings, observer_);
  std::vector<std::string> names;
  tensor::NamedData given;
  for (const auto& [value_name, value] : names_) {
    if (session->answer(value_name).kind != exec::TapAnswer::Kind::absent) names.emplace_back(value_name);
  }
  Counter counter(observer_, "values", names.size());
  MapSink sink([&](std::string_view value_name, const tensor::Datum& value) {
    counter.advance();
    if (const auto known = names_.find(value_name); known != names_.end()) side.values[known->second] = value;
    if (outputs.contains(value_name)) given.push_back({std::string(value_name), value});
  });
  session->make_execution({})->run(feeds_, names, sink);
  return greatest_move(given, alone);
}

OtherRun SideRuns::paired(const ir::Model& other) const {
  match::Matching matching = match::match_models(model_, other);
  OtherRun run{.counterpart = {.model = other}};
  for (const ir::ValueId input : model_[model_.main_graph()].inputs) {
    const ir::ValueId like = matching.values_in_b[input.index];
    if (like) run.counterpart.values.emplace(input, like);
  }
  const std::map<std::string_view, ir::ValueId> theirs = results_of(other);
  for (const auto& [name, value] : names_) {
    // A merged node has the name of the last node that it replaces, and looks like the first.
    const ir::ValueId like = matching.values_in_b[value.index];
    const std::string_view its_name = theirs.contains(name) || !like ? name : other.text(other[like].name);
    const bool is_of_another = its_name != name && names_.contains(its_name);
    if (!theirs.contains(its_name) || is_of_another) {
      run.matches.unmatched.emplace_back(name);
      continue;
    }
    ++(its_name == name ? run.matches.by_name : run.matches.by_structure);
    run.counterpart.values.emplace(value, theirs.at(its_name));
  }
  run.counterpart.nodes = std::move(matching.nodes_in_b);
  return run;
}

OtherRun SideRuns::run_other(const ir::Model& other) const {
  const std::string backend = request_.backends.empty() ? "ref" : request_.backends.front();
  OtherRun run = paired(other);
  debug::pair_clipped(model_, other, run.counterpart.values);
  std::map<std::string_view, ir::ValueId> taken;  // by the names of the other model
  std::set<std::string_view> wanted;
  for (const auto& [value, like] : run.counterpart.values) {
    if (model_[value].producer) taken.emplace(other.text(other[like].name), value);
  }
  for (const auto& [name, value] : taken) wanted.insert(name);
  CodeValues codes(other, debug::find_quantizers(model_, other, run.counterpart.values, run.counterpart.nodes));
  codes.add_names(wanted);
  debug::SideValues& side = run.side;
  side.backend = backend;
  side.name = fmt::format("{} on {}", exec::make_backend(backend)->side_name(request_.session.settings),
                          printable(request_.other.path));
  run_for(backend, other, wanted, [&](std::string_view name, const tensor::Datum& value) {
    codes.take(name, value);
    const auto known = taken.find(name);
    if (known == taken.end()) return;
    side.values[known->second] = value;
    if (value.is_tensor()) side.least_unit = std::max(side.least_unit, analysis::roundoff(value.declared()));
  });
  side.quantized = codes.quantized();
  return run;
}

void SideRuns::run_for(const std::string& backend, const ir::Model& other, const std::set<std::string_view>& wanted,
                       const std::function<void(std::string_view, const tensor::Datum&)>& take) const {
  exec::SessionOptions options = request_.session;
  const std::set<std::string_view> outputs = output_names(other);
  for (const std::string_view name : wanted) {
    if (!outputs.contains(name)) options.values.emplace_back(name);
  }
  Diagnostics findings;
  const std::unique_ptr<exec::Session> session = make(backend)->prepare(other, options, findings);
  tell_findings(findings, observer_);
  std::vector<std::string> asked;
  for (const std::string_view name : wanted) {
    if (session->answer(name).kind != exec::TapAnswer::Kind::absent) asked.emplace_back(name);
  }
  MapSink sink(take);
  tensor::NamedData given(feeds_.begin(), feeds_.end());
  session->make_execution({})->run(exec::check_feeds(exec::signature_of(other), given, findings), asked, sink);
}

debug::SideValues SideRuns::load(const formats::SavedRun& run) const {
  debug::SideValues side{.name = run.runner};
  if (run.iterations.empty()) return side;
  if (run.iterations.size() > 1) observer_.warning("of saved results, the first iteration is looked at");
  for (const tensor::NamedDatum& output : run.iterations[0].outputs) {
    const auto known = names_.find(output.name);
    if (known != names_.end()) side.values[known->second] = output.value;
  }
  return side;
}

tensor::NamedData SideRuns::outputs(const std::string& backend, const ir::Model& model,
                                    const exec::Settings& settings) const {
  return run_once(*prepare(backend, model, settings)->make_execution({}));
}

std::unique_ptr<exec::Session> SideRuns::prepare(const std::string& backend, const ir::Model& model,
                                                 const exec::Settings& settings) const {
  exec::SessionOptions options = request_.session;
  options.settings = settings;
  Diagnostics ignored;
  return make(backend)->prepare(model, options, ignored);
}

tensor::NamedData SideRuns::run_once(exec::Execution& execution) const {
  tensor::NamedData outputs;
  MapSink sink([&](std::string_view name, const tensor::Datum& value) {
    outputs.push_back({std::string(name), value});
  });
  execution.run(feeds_, outputs_, sink);
  return outputs;
}

void SideRuns::add_looks(std::vector<results::AccuracySide>& sides) const {
  for (size_t i = 0; i < looks_.size(); ++i) {
    sides[i].is_deterministic = looks_[i].is_deterministic;
    sides[i].probe_effect = looks_[i].probe_effect;
  }
}

}  // namespace assay::tasks
