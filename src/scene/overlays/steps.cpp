#include <algorithm>

#include "base/error.h"
#include "formats/json/field_reader.h"
#include "results/fields/debug.h"
#include "results/fields/edit.h"
#include "scene/overlays/overlays.h"

namespace assay::scene {
namespace {

using results::Overlay;
using results::StepListing;

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
  for (const StepListing& step : steps.list) {
    results::OverlayRow& row = overlay.table.emplace_back();
    row.words = {{"name", step.explanation}};
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
