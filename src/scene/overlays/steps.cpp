#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "formats/json/field_reader.h"
#include "results/fields/debug.h"
#include "results/fields/edit.h"
#include "scene/overlays/overlays.h"

namespace assay::scene {
namespace {

using results::Overlay;
using results::StepListing;

constexpr size_t kMostNamed = 5;  // nodes of a step

template <typename Report>
RewriteSteps steps_in(std::string_view json) {
  return {formats::read_report<Report>(json).steps, 0};
}

RewriteSteps steps_of_bisection(std::string_view json) {
  const auto report = formats::read_report<results::BisectionReport>(json);
  return {report.steps, report.step};
}

void add_items(const std::vector<std::string>& nodes, const SceneNames& names, std::vector<uint32_t>& items) {
  for (const uint32_t item : names.items(nodes)) {
    if (std::ranges::find(items, item) == items.end()) items.push_back(item);
  }
}

// Nodes that one step makes and a later one removes: no model has them. Told at both steps, by their numbers from 1. A
// node in the place of another one of its name, as fusions leave it, counts as that.
class Passing {
 public:
  explicit Passing(const std::vector<StepListing>& steps) : made_(steps.size()), removed_(steps.size()) {
    for (size_t i = 0; i < steps.size(); ++i) take(steps[i], i);
  }

  // Empty where a step has none.
  std::string text(size_t step) const {
    std::string text = listed("makes", made_[step], "removes");
    const std::string removed = listed("removes", removed_[step], "makes");
    return text + (text.empty() || removed.empty() ? "" : "; ") + removed;
  }

 private:
  using Nodes = std::vector<std::pair<std::string_view, size_t>>;  // with the other step

  void take(const StepListing& step, size_t number) {
    for (const std::string& node : step.removed) {
      const auto maker = makers_.find(node);
      if (maker == makers_.end()) {
        first_.insert(node);
      } else if (std::ranges::find(step.added, node) == step.added.end()) {
        made_[maker->second].emplace_back(node, number + 1);
        removed_[number].emplace_back(node, maker->second + 1);
        makers_.erase(maker);
      }
    }
    for (const std::string& node : step.added) {
      if (!first_.contains(node)) makers_.try_emplace(node, number);
    }
  }

  static std::string listed(std::string_view here, const Nodes& nodes, std::string_view there) {
    std::string text;
    for (size_t i = 0; i < std::min(nodes.size(), kMostNamed); ++i) {
      const auto& [name, step] = nodes[i];
      text += i == 0 ? fmt::format("{} ", here) : ", ";
      text += fmt::format("`{}`, which step {} {}", printable(name), step, there);
    }
    return text + (nodes.size() > kMostNamed ? fmt::format(", and {} more", nodes.size() - kMostNamed) : "");
  }

  std::vector<Nodes> made_;  // by step
  std::vector<Nodes> removed_;
  std::unordered_map<std::string_view, size_t> makers_;  // steps that made what is there
  std::unordered_set<std::string_view> first_;           // names of the model before the steps
};

}  // namespace

std::optional<RewriteSteps> read_steps(std::string_view json) {
  std::string schema;
  formats::FieldReader fields(json);
  fields("schema", schema);
  RewriteSteps steps;
  if (schema == "assay/debug-bisect/1")
    steps = steps_of_bisection(json);
  else if (schema == "assay/convert/1")
    steps = steps_in<results::ConversionReport>(json);
  else if (schema == "assay/surgeon-sanitize/1")
    steps = steps_in<results::EditReport>(json);
  else
    return std::nullopt;
  if (steps.list.empty()) fail(ErrorCode::unsupported, "it holds no steps, since they were not to be explained");
  return steps;
}

Overlay steps_overlay(const RewriteSteps& steps, const SceneNames& names, ShownSteps shown) {
  Overlay overlay;
  overlay.what = "steps";
  overlay.title = "steps of a rewrite";
  overlay.scene = shown == ShownSteps::added ? 1 : 0;
  if (steps.guilty > 0) overlay.numbers.emplace_back("guilty", static_cast<double>(steps.guilty));
  const Passing passing(steps.list);
  for (const StepListing& step : steps.list) {
    const std::string unseen = passing.text(overlay.table.size());
    results::OverlayRow& row = overlay.table.emplace_back();
    row.words = {{"name", step.explanation}};
    if (!unseen.empty()) row.words.emplace_back("unseen", unseen);
    if (shown != ShownSteps::added) add_items(step.removed, names, row.items);
    row.numbers = {{"gone", static_cast<double>(row.items.size())}};
    if (shown == ShownSteps::removed) continue;
    add_items(step.added, names, row.items);
    const size_t made_end = row.items.size();
    add_items({step.changed}, names, row.items);
    row.numbers.emplace_back("kept", static_cast<double>(row.items.size() - made_end));
  }
  return overlay;
}

}  // namespace assay::scene
