#include "tasks/profile/layers.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "analysis/cost.h"
#include "base/error.h"
#include "engine/layers/layer.h"
#include "engine/lowering/lower.h"

namespace assay::tasks {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Compares the time of a layer with the least that the machine allows.
std::string bound_of(const results::ProfiledLayer& layer, const results::MachineRoof& roof) {
  constexpr double kLeastShare = 0.2;  // of the roof; below, the layer is held up by something else
  if (layer.seconds <= 0 || (!layer.flops && layer.bytes == 0)) return "";
  const double arithmetic = layer.flops.value_or(0) / roof.flops_per_second / layer.seconds;
  const double memory = static_cast<double>(layer.bytes) / roof.bytes_per_second / layer.seconds;
  if (std::max(arithmetic, memory) < kLeastShare) return "overhead";
  if (memory > 1) return arithmetic < kLeastShare ? "caches" : "arithmetic";  // memory is not that fast
  return arithmetic > memory ? "arithmetic" : "memory";
}

// The node that a backend means, also where it renamed a result for a layout of its own.
const NodeWork* find_node(const WorkOfNodes& work, std::string_view name) {
  constexpr std::string_view kLayout = "_nchwc";
  if (name.ends_with(kLayout)) name.remove_suffix(kLayout.size());
  const auto found = work.find(name);
  return found == work.end() ? nullptr : &found->second;
}

// Origins that are no nodes of the model are left out.
void add_work(results::ProfiledLayer& layer, const WorkOfNodes& work) {
  uint64_t bytes = 0;
  std::vector<std::string> origins;
  for (const std::string& origin : layer.origins) {
    const NodeWork* const node = find_node(work, origin);
    if (node == nullptr || std::ranges::find(origins, node->node) != origins.end()) continue;
    origins.push_back(node->node);
    if (node->flops) layer.flops = layer.flops.value_or(0) + *node->flops;
    bytes += node->bytes;
  }
  layer.origins = std::move(origins);
  if (layer.bytes == 0) layer.bytes = bytes;
}

// Sets of origins that belong together because some layer has them in one.
class Union {
 public:
  size_t add(const std::string& origin) {
    const auto [place, is_new] = numbers_.emplace(origin, parents_.size());
    if (is_new) parents_.push_back(place->second);
    return place->second;
  }
  void join(const std::vector<std::string>& origins) {
    for (const std::string& origin : origins) parents_[root(add(origin))] = root(add(origins[0]));
  }
  size_t root_of(const std::string& origin) { return root(add(origin)); }

 private:
  size_t root(size_t number) const {
    while (parents_[number] != number) number = parents_[number];
    return number;
  }
  std::map<std::string, size_t> numbers_;
  std::vector<size_t> parents_;
};

}  // namespace

WorkOfNodes work_of_nodes(const ir::Model& model, std::span<const exec::Feed> feeds) {
  ir::Model fixed = model.copy();
  std::map<std::string, tensor::Shape> shapes;
  for (const exec::Feed& feed : feeds) {
    if (feed.value.is_tensor()) shapes.emplace(feed.name, feed.value.tensor().shape());
  }
  engine::fix_shapes(fixed, shapes);
  ops::Inference inference(fixed);
  inference.run();
  WorkOfNodes work;
  for (const ir::NodeId node : ir::nodes(fixed, fixed.main_graph())) {
    ops::Dim bytes = 0;
    for (const ir::Use& use : fixed[node].operands) bytes = bytes + analysis::value_bytes(fixed, inference, use.value);
    for (const ir::ValueId value : fixed[node].results) bytes = bytes + analysis::value_bytes(fixed, inference, value);
    NodeWork found{.node = std::string(fixed[node].name), .flops = {}};
    if (found.node.empty()) found.node = engine::layer_name(fixed, node);
    if (const std::optional<int64_t> macs = inference.macs(node).number())
      found.flops = 2.0 * static_cast<double>(*macs);
    found.bytes = static_cast<uint64_t>(bytes.number().value_or(0));
    for (const ir::ValueId value : fixed[node].results) {
      if (value.valid()) work.emplace(fixed.text(fixed[value].name), found);
    }
    work.insert_or_assign(found.node, found);
  }
  return work;
}

std::vector<results::ProfiledLayer> merge_runs(const std::vector<std::vector<exec::LayerSeconds>>& runs,
                                               const WorkOfNodes& work, const results::MachineRoof& roof) {
  std::vector<results::ProfiledLayer> layers;
  if (runs.empty()) return layers;
  double total = 0;
  for (size_t i = 0; i < runs.back().size(); ++i) {
    const exec::LayerSeconds& last = runs.back()[i];
    std::vector<double> seconds;
    for (const std::vector<exec::LayerSeconds>& run : runs) {
      if (i < run.size() && run[i].layer == last.layer) seconds.push_back(run[i].seconds);
    }
    results::ProfiledLayer layer{
        .layer = last.layer, .op = last.op, .origins = last.origins, .provider = last.provider, .bound = {}};
    layer.seconds = median(std::move(seconds));
    layer.bytes = last.bytes;
    add_work(layer, work);
    layer.bound = bound_of(layer, roof);
    total += layer.seconds;
    layers.push_back(std::move(layer));
  }
  for (results::ProfiledLayer& layer : layers) layer.share = total > 0 ? layer.seconds / total : 0;
  return layers;
}

std::vector<results::LayerGroup> group_layers(std::span<const results::ProfiledBackend> backends) {
  Union sets;
  for (const results::ProfiledBackend& backend : backends) {
    for (const results::ProfiledLayer& layer : backend.layers) sets.join(layer.origins);
  }
  std::vector<results::LayerGroup> groups;
  std::map<size_t, size_t> places;  // of groups, by root
  for (size_t i = 0; i < backends.size(); ++i) {
    for (const results::ProfiledLayer& layer : backends[i].layers) {
      if (layer.origins.empty()) continue;
      const auto [place, is_new] = places.emplace(sets.root_of(layer.origins[0]), groups.size());
      if (is_new) {
        groups.push_back({{}, std::vector<double>(backends.size(), std::numeric_limits<double>::quiet_NaN())});
      }
      results::LayerGroup& group = groups[place->second];
      for (const std::string& origin : layer.origins) {
        if (std::ranges::find(group.origins, origin) == group.origins.end()) group.origins.push_back(origin);
      }
      double& seconds = group.seconds[i];
      seconds = seconds == seconds ? seconds + layer.seconds : layer.seconds;
    }
  }
  return groups;
}

}  // namespace assay::tasks
