#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "results/fields/check.h"
#include "scene/overlays/overlays.h"

namespace assay::scene {
namespace {

using results::Overlay;

constexpr double kMicro = 1e6;
constexpr double kMilli = 1e3;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// The layers of one backend, so far as the report was read.
struct Lane {
  std::string side;
  uint16_t number = 0;
  double at = 0;  // microseconds
};

// The time of a layer belongs to its nodes in equal parts, so that sums over groups are right.
void add_layer(const results::ProfiledLayer& layer, Lane& lane, const SceneNames& names, Overlay& overlay) {
  const std::vector<uint32_t> items = names.items(layer.origins);
  const double seconds = layer.seconds;
  const auto part = static_cast<double>(std::max<size_t>(items.size(), 1));
  for (const uint32_t item : items) {
    const auto add = [&](std::string_view field, double number) {
      float& sum = column_of(overlay, lane.side, field, false, names.item_count())[item];
      sum = static_cast<float>(number / part + (sum > 0 ? sum : 0));
    };
    add("time", seconds * kMilli);
    add("share", layer.share);
  }
  const std::string& name = layer.layer;
  if (items.size() > 1) overlay.groups.push_back({name, lane.side, items});
  overlay.spans.push_back({lane.number, lane.at, seconds * kMicro, items.empty() ? kNoItem : items.front(), name});
  lane.at += seconds * kMicro;
  results::OverlayRow row;
  row.words = {{"layer", name}, {"op", layer.op}, {"side", lane.side}, {"bound", layer.bound}};
  row.numbers = {{"time", seconds * kMilli},
                 {"share", layer.share},
                 {"flops", layer.flops.value_or(kUnknown)},
                 {"bytes", layer.bytes == 0 ? kUnknown : static_cast<double>(layer.bytes)}};
  row.items = items;
  overlay.table.push_back(std::move(row));
}

std::string level_of(results::LintLevel level) {
  return level == results::LintLevel::exception ? "error"
                                                : std::string(results::kLintWords[static_cast<size_t>(level)]);
}

}  // namespace

Overlay profile_overlay(const results::ProfileReport& report, const SceneNames& names) {
  Overlay overlay;
  overlay.what = "time";
  overlay.title = "time by layer";
  overlay.fields = {{"time", "ms", "log", "median time of the layer, in equal parts for its nodes"},
                    {"share", "", "linear", "share of the time of all layers"}};
  const auto on_device = std::ranges::find_if(report.backends, [](const auto& side) { return side.roof.has_value(); });
  const results::MachineRoof& roof = on_device == report.backends.end() ? report.roof : *on_device->roof;
  overlay.numbers = {{"flops_per_second", roof.flops_per_second}, {"bytes_per_second", roof.bytes_per_second}};
  for (const results::ProfiledBackend& backend : report.backends) {
    Lane lane;
    lane.side = backend.backend;
    lane.number = static_cast<uint16_t>(overlay.lanes.size());
    overlay.lanes.push_back(lane.side);
    if (!backend.failure.empty()) {
      overlay.notes.push_back({kNoItem, "warning", "failure", lane.side + ": " + backend.failure, ""});
    }
    for (const results::ProfiledLayer& layer : backend.layers) add_layer(layer, lane, names, overlay);
  }
  return overlay;
}

Overlay plan_overlay(const results::EngineListing& plan, const SceneNames& names) {
  Overlay overlay;
  overlay.what = "plan";
  overlay.title = "layers of the engine";
  overlay.words = {{"machine", plan.machine}};
  overlay.numbers = {{"memory_bytes", static_cast<double>(plan.memory_bytes)},
                     {"packed_bytes", static_cast<double>(plan.packed_bytes)}};
  if (plan.profiles.empty()) return overlay;
  const auto tensors_text = [](const std::vector<results::EngineTensor>& tensors) {
    std::string text;
    for (const results::EngineTensor& tensor : tensors) {
      text += (text.empty() ? "" : ", ") + tensor.info.name + (tensor.format.empty() ? "" : " " + tensor.format);
    }
    return text;
  };
  for (const results::EngineLayer& layer : plan.profiles.front().layers) {
    std::vector<uint32_t> items = names.items(layer.origins);
    results::OverlayRow row;
    row.words = {{"layer", layer.name},
                 {"op", layer.op},
                 {"tactic", layer.tactic},
                 {"inputs", tensors_text(layer.inputs)},
                 {"outputs", tensors_text(layer.outputs)}};
    row.items = items;
    overlay.table.push_back(std::move(row));
    overlay.groups.push_back({layer.name, layer.tactic, std::move(items)});
  }
  for (const results::EngineBlock& block : plan.profiles.front().blocks) {
    overlay.blocks.push_back({static_cast<uint32_t>(block.first), static_cast<uint32_t>(block.last),
                              names.producer(block.value), static_cast<double>(block.address),
                              static_cast<double>(block.bytes), block.value});
  }
  for (const results::UnplannedNode& node : plan.profiles.front().unplanned) {
    overlay.notes.push_back({names.item(node.name), "info", "no_layer",
                             "stands in no layer: it was folded or removed, or is another view of its operand", ""});
  }
  return overlay;
}

Overlay lint_overlay(const results::LintReport& report, const SceneNames& names) {
  Overlay overlay;
  overlay.what = "lint";
  overlay.title = "findings";
  for (const results::LintEntry& entry : report.entries) {
    overlay.notes.push_back({names.item(entry.node), level_of(entry.level), entry.code, entry.message, ""});
  }
  return overlay;
}

Overlay compatibility_overlay(const results::CompatibilityReport& report, const SceneNames& names) {
  Overlay overlay;
  overlay.what = "compatibility";
  overlay.title = "nodes that backends refuse";
  overlay.fields = {{"refused", "", "linear", "1: the backend refuses the node"}};
  for (const results::BackendCompatibility& backend : report.backends) {
    const std::string& side = backend.backend;
    std::vector<float>& refused = column_of(overlay, side, "refused", false, names.item_count());
    for (const results::RefusedNode& node : backend.refused) {
      const uint32_t item = names.item(node.node);
      if (item != kNoItem) refused[item] = 1;
      overlay.notes.push_back({item, "error", side, side + ": " + node.reason, ""});
    }
    if (!backend.whole_refusal.empty()) {
      overlay.notes.push_back({kNoItem, "error", side, side + ": " + backend.whole_refusal, ""});
    }
  }
  return overlay;
}

}  // namespace assay::scene
