#include "inspect/capability.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "engine/layers/layer.h"
#include "inspect/compatibility.h"
#include "ir/walk.h"
#include "remote/isolated_backend.h"
#include "surgery/extract.h"
#include "tasks/inspect.h"
#include "tasks/save.h"

namespace assay::tasks {
namespace fs = std::filesystem;

namespace {

// The border of a range of nodes: values that it takes from outside and gives to it.
class Border {
 public:
  Border(const ir::Model& model, const results::NodeRange& range) : model_(model) {
    size_t number = 0;
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
      if (range.first <= number && number <= range.last) add(node);
      ++number;
    }
  }

  surgery::Extraction extraction() const {
    surgery::Extraction found;
    for (const ir::ValueId input : inputs_) found.inputs.push_back(boundary(input));
    for (const ir::ValueId result : results_) {
      if (is_given_out(result)) found.outputs.push_back(boundary(result));
    }
    return found;
  }

 private:
  void add(ir::NodeId node) {
    nodes_.insert(node);
    ir::for_each_operand(model_, node, [&](ir::ValueId value) {
      const ir::Value& facts = model_[value];
      const bool is_outside = facts.graph == model_.main_graph() && !made_.contains(value);
      const bool is_constant = facts.kind == ir::ValueKind::initializer;
      if (is_outside && !is_constant && std::ranges::find(inputs_, value) == inputs_.end()) inputs_.push_back(value);
    });
    for (const ir::ValueId result : model_[node].results) {
      if (!result.valid()) continue;
      made_.insert(result);
      results_.push_back(result);
    }
  }

  // True if the range gives the value out. A value that nothing reads is given out as well: otherwise its node would be
  // lost.
  bool is_given_out(ir::ValueId value) const {
    bool is_read = false;
    for (const ir::Use& use : ir::uses(model_, value)) {
      is_read = true;
      if (!nodes_.contains(model_.ancestor_in(use.user, model_.main_graph()))) return true;
    }
    return !is_read;
  }

  surgery::Boundary boundary(ir::ValueId value) const {
    return {.name = std::string(model_.text(model_[value].name)), .dtype = {}, .shape = {}};
  }

  const ir::Model& model_;
  std::set<ir::NodeId> nodes_;
  std::set<ir::ValueId> made_;
  std::vector<ir::ValueId> inputs_;
  std::vector<ir::ValueId> results_;
};

void save_range(const ir::Model& model, const std::string& folder, results::NodeRange& range, Observer& observer) {
  ir::Model piece = model.copy();
  Diagnostics findings;
  surgery::extract(piece, Border(model, range).extraction(), findings);
  const std::string name =
      fmt::format("{}supported_subgraph-nodes-{}-{}.onnx", range.is_supported ? "" : "un", range.first, range.last);
  range.file = (fs::path(folder) / name).string();
  save_model(piece, range.file, {}, observer);
}

// A part whose border has no known types cannot be a model; the others are written.
void save_ranges(LoadedModel& loaded, const std::string& folder, results::CapabilityReport& report,
                 Observer& observer) {
  fs::create_directories(folder);
  infer_shapes(loaded);
  for (results::NodeRange& range : report.ranges) {
    const auto saved = attempt([&] {
      save_range(loaded.model, folder, range, observer);
      return true;
    });
    const Error* const error = std::get_if<Error>(&saved);
    if (error == nullptr) continue;
    if (error->code() == ErrorCode::io || error->code() == ErrorCode::cancelled) throw *error;
    range.file.clear();
    observer.warning(fmt::format("nodes {} to {} are not written: {}", range.first, range.last, error->line()));
  }
}

// Nodes of layers that the session's device leaves to the processor, as if it refused them.
void add_left_to_processor(const ir::Model& model, const exec::Backend& backend, const exec::SessionOptions& options,
                           results::BackendCompatibility& found, Observer& observer) {
  Diagnostics told;
  const std::unique_ptr<exec::Session> session = backend.prepare(model, options, told);
  tell_findings(told, observer);
  const auto elsewhere = session->elsewhere();
  if (!elsewhere) {
    observer.warning("the shapes of inputs are open: which layers run on the processor is known when they are given");
    return;
  }
  std::map<std::string, size_t, std::less<>> places;  // by the names that origins have
  std::vector<std::string> ops;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    const std::string_view name = model[node].name;
    places.emplace(name.empty() ? engine::layer_name(model, node) : name, ops.size());
    ops.emplace_back(model.text(model[node].op));
  }
  for (const exec::LayerElsewhere& layer : *elsewhere) {
    for (const std::string& origin : layer.origins) {
      const auto place = places.find(origin);
      if (place == places.end()) continue;
      const std::string reason = fmt::format("runs on the processor (`{}`), between two transfers", layer.tactic);
      found.refused.push_back({origin, ops[place->second], reason, "", {place->second}});
    }
  }
}

// Nodes that the providers of the settings leave to the processor, as if they refused them.
void add_left_by_providers(const ir::Model& model, const exec::Backend& backend, exec::SessionOptions options,
                           results::BackendCompatibility& found, Observer& observer) {
  options.settings.set("show-assignment", {});
  Diagnostics told;
  const std::unique_ptr<exec::Session> session = backend.prepare(model, options, told);
  tell_findings(told, observer);
  std::map<std::string, std::string, std::less<>> providers;  // by the names of nodes
  for (const exec::AssignedNode& node : session->assignment()) providers.emplace(node.node, node.provider);
  size_t place = 0;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    const auto provider = providers.find(model[node].name);
    if (provider != providers.end() && provider->second == "CPUExecutionProvider") {
      found.refused.push_back({std::string(model[node].name),
                               std::string(model.text(model[node].op)),
                               fmt::format("runs on `{}`", provider->second),
                               "",
                               {place}});
    }
    ++place;
  }
}

}  // namespace

results::CapabilityReport inspect_capability(const CapabilityRequest& request, Observer& observer) {
  LoadedModel loaded = load_model(request.model, observer);
  tell_findings(loaded.findings, observer);
  const exec::LibrarySearch& search = request.session.search;
  const exec::BackendPtr backend = remote::safe_backend(request.backend, search);
  results::BackendCompatibility found = inspect::inspect_compatibility(loaded.model, *backend, search);
  if (!found.usable) fail(ErrorCode::backend, "{} cannot be used: {}", request.backend, found.version);
  results::CapabilityReport report{.path = request.model.path, .backend = request.backend, .title = {}};
  report.title = backend->title();
  if (backend->loads_strangers(request.session.settings) && found.accepts_all()) {
    report.title += " with these providers";
    exec::SessionOptions options = request.session;
    options.path = request.model.path;
    add_left_by_providers(loaded.model, *backend, std::move(options), found, observer);
  }
  if (backend->side_name(request.session.settings) != backend->name() && found.accepts_all()) {
    report.title += " on the card";
    add_left_to_processor(loaded.model, *backend, request.session, found, observer);
  }
  report.ranges = inspect::node_ranges(loaded.model, found);
  report.whole_refusal = found.whole_refusal;
  report.whole_remedy = found.whole_remedy;
  report.untried_count = found.untried_count;
  const bool is_split = std::ranges::any_of(report.ranges, [](const auto& range) { return !range.is_supported; });
  if (is_split && !request.folder.empty()) save_ranges(loaded, request.folder, report, observer);
  report.timings = {{"load_seconds", loaded.load_seconds}};
  return report;
}

}  // namespace assay::tasks
