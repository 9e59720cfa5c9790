#include <algorithm>
#include <map>
#include <set>

#include "base/paths.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "compare/statistics.h"
#include "engine/layers/layer.h"
#include "engine/plan/saved_plan.h"
#include "formats/saved_data.h"
#include "ir/queries.h"
#include "tasks/inspect.h"
#include "tasks/inspect/memory_blocks.h"

namespace assay::tasks {
namespace {

using Ranges = std::map<std::string, results::TensorRange, std::less<>>;

// The ranges of the first run and its first iteration, as the peer has them.
Ranges load_ranges(const std::string& path) {
  Ranges ranges;
  const formats::SavedRuns runs = formats::load_results(path);
  if (runs.empty() || runs[0].iterations.empty()) return ranges;
  for (const tensor::NamedDatum& output : runs[0].iterations[0].outputs) {
    if (!output.value.is_tensor() || output.value.tensor().dtype() == tensor::DType::string) continue;
    const results::TensorStats stats = compare::statistics(output.value.tensor(), {.percentiles = false});
    ranges[output.name] = {stats.least, stats.greatest, stats.mean};
  }
  return ranges;
}

results::ValueInfo value_info(const exec::Port& port) {
  results::ValueInfo info{.name = port.name, .type = {}, .shape = {}};
  if (!port.type || port.type->kind != ir::TypeKind::tensor) return info;
  info.type = tensor::name(port.type->dtype);
  info.ranked = port.type->ranked;
  for (const exec::PortDim& dim : port.type->dims) info.shape.push_back({dim.size, ""});
  return info;
}

results::EngineTensor engine_tensor(const engine::LayerTensor& tensor, const Ranges& ranges) {
  results::EngineTensor found{.info = {.name = tensor.name, .type = {}, .shape = {}}, .format = tensor.format};
  if (tensor.dtype != tensor::DType::undefined) {
    found.info.type = tensor::name(tensor.dtype);
    found.info.ranked = true;
    for (const int64_t dim : tensor.dims) found.info.shape.push_back({dim, ""});
  }
  if (const auto range = ranges.find(tensor.name); range != ranges.end()) found.range = range->second;
  return found;
}

results::EngineLayer engine_layer(const engine::LayerRecord& layer, const Ranges& ranges) {
  results::EngineLayer found{.name = layer.name, .op = layer.op, .tactic = layer.tactic, .origins = layer.origins};
  for (const engine::LayerTensor& tensor : layer.inputs) found.inputs.push_back(engine_tensor(tensor, ranges));
  for (const engine::LayerTensor& tensor : layer.outputs) found.outputs.push_back(engine_tensor(tensor, ranges));
  return found;
}

// The range of an input in the profile, or in the model if it is fixed there.
results::EngineRange range_of(const exec::Port& input, const engine::Profile& profile) {
  results::EngineRange found{.input = input.name, .least = {}, .best = {}, .most = {}};
  const auto range = std::ranges::find(profile, input.name, &engine::ShapeRange::input);
  if (range != profile.end()) {
    found.is_values = range->is_values;
    found.least = range->least;
    found.best = range->best;
    found.most = range->most;
    return found;
  }
  found.is_any = !input.type || !input.type->ranked;
  for (const exec::PortDim& dim : input.type ? input.type->dims : std::vector<exec::PortDim>()) {
    found.is_any = found.is_any || !dim.size;
    found.best.push_back(dim.size.value_or(-1));
  }
  found.least = found.most = found.best;
  return found;
}

// True if a node calls a function; the nodes that it becomes are known by their own names.
bool is_call(const ir::Model& model, const ir::Node& node) {
  return std::ranges::any_of(model.functions(), [&](const ir::Function& function) {
    return function.domain == node.domain && function.name == node.op;
  });
}

std::vector<results::UnplannedNode> unplanned_nodes(const ir::Model& source,
                                                    const std::vector<engine::LayerRecord>& layers) {
  std::set<std::string_view> planned;
  for (const engine::LayerRecord& layer : layers) planned.insert(layer.origins.begin(), layer.origins.end());
  std::vector<results::UnplannedNode> nodes;
  for (const ir::NodeId id : ir::nodes(source, source.main_graph())) {
    const std::string_view op = source.text(source[id].op);
    if (ir::is_constant_node(source, id) || is_call(source, source[id])) continue;
    std::string name(source[id].name.empty() ? engine::layer_name(source, id) : source[id].name);
    if (!planned.contains(name)) nodes.push_back({std::move(name), std::string(op)});
  }
  return nodes;
}

results::EngineProfile engine_profile(const engine::SavedPlan& plan, const engine::Profile& profile,
                                      const Ranges& ranges) {
  results::EngineProfile found;
  std::map<std::string, tensor::Shape> shapes;
  for (const exec::Port& input : plan.manifest().signature.inputs) {
    found.inputs.push_back(range_of(input, profile));
    const std::vector<results::ListedDim> declared = value_info(input).shape;
    const bool is_open = std::ranges::any_of(declared, [](const results::ListedDim& dim) { return !dim.value; });
    if (is_open || (input.type && !input.type->ranked)) shapes.emplace(input.name, found.inputs.back().best);
  }
  const std::optional<size_t> number = plan.find(shapes);
  if (!number) return found;
  const engine::PlannedModel& planned = plan.manifest().planned[*number];
  found.is_planned = true;
  found.memory_bytes = planned.memory_bytes;
  for (const engine::LayerRecord& layer : planned.layers) found.layers.push_back(engine_layer(layer, ranges));
  found.unplanned = unplanned_nodes(plan.source(), planned.layers);
  found.blocks = memory_blocks(planned.layers, plan.manifest().signature.outputs);
  return found;
}

uint64_t section_bytes(const engine::PlanFile& file, engine::SectionKind kind) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < file.count(kind); ++i) bytes += file.section(kind, i).size();
  return bytes;
}

}  // namespace

results::EngineListing inspect_engine(const InspectEngineRequest& request, Observer& observer) {
  observer.info("Loading plan: " + printable(absolute_path(request.path).lexically_normal().string()));
  const Stopwatch loading;
  const engine::SavedPlan plan = engine::open_plan(request.path);
  const engine::Manifest& manifest = plan.manifest();
  const Ranges ranges = request.tensor_info.empty() ? Ranges() : load_ranges(request.tensor_info);
  results::EngineListing listing;
  listing.path = request.path;
  listing.name = plan.source().text(plan.source()[plan.source().main_graph()].name);
  listing.machine = engine::text_of(manifest.devices);
  listing.source = manifest.source;
  listing.is_strict = manifest.is_strict;
  if (manifest.precision.bfloat16) listing.permissions.emplace_back("bf16");
  if (manifest.precision.float16) listing.permissions.emplace_back("fp16");
  for (const exec::Port& input : manifest.signature.inputs) listing.inputs.push_back(value_info(input));
  for (const exec::Port& output : manifest.signature.outputs) listing.outputs.push_back(value_info(output));
  listing.weight_bytes = section_bytes(plan.file(), engine::SectionKind::weights);
  listing.packed_bytes = section_bytes(plan.file(), engine::SectionKind::packed);
  listing.file_bytes = std::filesystem::file_size(request.path);
  for (const engine::Profile& profile : manifest.profiles) {
    listing.profiles.push_back(engine_profile(plan, profile, ranges));
    listing.memory_bytes = std::max(listing.memory_bytes, listing.profiles.back().memory_bytes);
  }
  listing.timings = {{"load_seconds", loading.seconds()}};
  return listing;
}

}  // namespace assay::tasks
