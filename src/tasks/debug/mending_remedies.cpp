#include "tasks/debug/mending_remedies.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "convert/precision/half_kernels.h"
#include "debug/accuracy/influence.h"
#include "ir/naming.h"
#include "ops/interpreter.h"
#include "ops/traits.h"
#include "tasks/convert.h"

namespace assay::tasks {
namespace {

bool is_half(tensor::DType dtype) { return dtype == tensor::DType::float16 || dtype == tensor::DType::bfloat16; }

// True if the exact numbers of a value are too large for its type, or all too small.
bool is_misfit(const debug::Datum& exact) {
  if (!debug::is_numeric(exact) || !is_half(exact.declared())) return false;
  double greatest = 0;
  for (const double number : debug::numbers_of(exact)) {
    if (std::isfinite(number)) greatest = std::max(greatest, std::abs(number));
  }
  const bool is_tiny = greatest > 0 && greatest < convert::smallest_normal_half(exact.declared());
  return is_tiny || greatest > convert::largest_half(exact.declared());
}

std::vector<ir::ValueId> results_of_layers(const ir::Model& model) {
  std::vector<ir::ValueId> values;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    std::ranges::copy_if(model[node].results, std::back_inserter(values),
                         [](ir::ValueId value) { return bool(value); });
  }
  return values;
}

using Nodes = std::set<ir::NodeId>;

// The layers that make or use values of the main graph that do not fit; those that use them may stand in bodies.
Nodes misfit_layers(const ir::Model& model, const std::vector<ops::InputDatum>& inputs) {
  Nodes found;
  ops::Interpreter interpreter(model, {.is_wide = true});
  interpreter.run(inputs, results_of_layers(model), [&](ir::ValueId value, const debug::Datum& exact) {
    if (!is_misfit(exact)) return;
    found.insert(model[value].producer);
    for (const ir::Use& use : ir::uses(model, value)) {
      if (!model[use.user].is_outputs) found.insert(use.user);
    }
  });
  return found;
}

class MendingRemedies {
 public:
  MendingRemedies(const RemedyCase& given, std::string backend, const results::AccuracySide& side)
      : given_(given),
        backend_(std::move(backend)),
        side_(side),
        truth_(debug::true_outputs(given.model, given.inputs)) {}

  std::vector<results::Remedy> run(const std::vector<ir::NodeId>& guilty) {
    const Nodes all(guilty.begin(), guilty.end());
    widen("the first guilty layer in float32", {guilty.front()});
    if (all.size() > 1) widen("the guilty layers in float32", all);
    Nodes wide = misfit_layers(given_.model, given_.inputs);
    if (!wide.empty()) {
      wide.insert(all.begin(), all.end());
      widen("layers in float32 whose values do not fit", wide);
    }
    clip(guilty);
    return std::move(tried_);
  }

 private:
  // The names of nodes that can be edited: nodes in bodies, and not the nodes that have them.
  std::vector<std::string> names_of(const Nodes& nodes) const {
    std::vector<std::string> names;
    for (const ir::NodeId node : nodes) {
      if (given_.model.bodies(given_.model[node]).empty()) names.emplace_back(ir::known_name(given_.model, node));
    }
    return names;
  }

  void widen(std::string text, const Nodes& nodes) {
    if (tried_nodes_.insert(nodes).second) add({.text = std::move(text), .widened = names_of(nodes)});
  }

  void clip(const std::vector<ir::NodeId>& guilty) {
    Nodes casts;
    for (const ir::NodeId node : guilty) {
      if (ops::traits(given_.model, node).is_cast()) casts.insert(node);
    }
    if (casts.empty()) return;
    add({.text = casts.size() == 1 ? "a Clip before the guilty Cast" : "Clips before the guilty Casts",
         .clipped = names_of(casts)});
  }

  // Adds a remedy, unless the model cannot be edited or run.
  void add(results::Remedy remedy) {
    const std::variant<double, Error> after = attempt([&] { return error_of(remedy); });
    if (std::holds_alternative<Error>(after)) return;
    remedy.set_errors(side_.output_error, std::get<double>(after), side_.output_magnitude);
    tried_.push_back(std::move(remedy));
  }

  double error_of(const results::Remedy& remedy) const {
    ConvertRequest request;
    request.edit.model = {.path = given_.request.model.path, .model = &given_.model};
    request.conversion = MendRequest{remedy.widened, remedy.clipped};
    Observer quiet;
    const ConvertOutcome mended = convert(request, quiet);
    if (!mended.report.changed) fail(ErrorCode::unsupported, "the layers stay as they are");
    const exec::Settings& settings = given_.request.session.settings;
    return debug::greatest_error(given_.runs.outputs(backend_, mended.model, settings), truth_);
  }

  const RemedyCase& given_;
  std::string backend_;
  const results::AccuracySide& side_;
  tensor::NamedData truth_;
  std::set<Nodes> tried_nodes_;
  std::vector<results::Remedy> tried_;
};

}  // namespace

std::vector<results::Remedy> try_mending(const RemedyCase& given, std::span<const debug::Accused> culprits,
                                         const std::vector<results::AccuracySide>& sides) {
  const auto side = std::ranges::find(sides, given.culprit.error.side, &results::AccuracySide::name);
  const auto number = static_cast<size_t>(side - sides.begin());
  if (number >= given.request.backends.size()) return {};
  std::vector<ir::NodeId> guilty;
  for (const debug::Accused& accused : culprits) {
    const bool is_known = std::ranges::find(guilty, accused.node) != guilty.end();
    if (accused.error.side == side->name && is_half(accused.exact.declared()) && !is_known)
      guilty.push_back(accused.node);
  }
  if (guilty.empty()) return {};
  return MendingRemedies(given, given.request.backends[number], *side).run(guilty);
}

}  // namespace assay::tasks
