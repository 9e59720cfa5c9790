#include "scene/overlays/overlays.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "ir/naming.h"

namespace assay::scene {
namespace {

struct ReportKind {
  std::string_view schema;
  results::Overlay (*read)(const JsonValue&, const SceneNames&);
};

constexpr std::array kReportKinds = {
    ReportKind{"assay/debug-accuracy/1", accuracy_overlay},
    ReportKind{"assay/run/1", run_overlay},
    ReportKind{"assay/profile/1", profile_overlay},
    ReportKind{"assay/check-lint/1", lint_overlay},
    ReportKind{"assay/check-compatibility/1", compatibility_overlay},
    ReportKind{"assay/debug-range/1", range_overlay},
};

}  // namespace

SceneNames::SceneNames(const ir::Model& model, const MadeScene& made) : made_(made) {
  for (uint32_t item = 0; item < made.nodes.size(); ++item) {
    if (made.nodes[item]) items_.try_emplace(ir::known_name(model, made.nodes[item]), item);
  }
  for (uint32_t i = 0; i < made.values.size(); ++i) values_.try_emplace(model.text(model[made.values[i]].name), i);
}

uint32_t SceneNames::item(std::string_view node) const {
  const auto found = items_.find(node);
  return node.empty() || found == items_.end() ? kNoItem : found->second;
}

uint32_t SceneNames::value(std::string_view name) const {
  const auto found = values_.find(name);
  return name.empty() || found == values_.end() ? kNoItem : found->second;
}

uint32_t SceneNames::producer(std::string_view name) const {
  const uint32_t number = value(name);
  return number == kNoItem ? kNoItem : made_.scene.value_producers[number];
}

std::vector<uint32_t> SceneNames::items(const std::vector<std::string>& nodes) const {
  std::vector<uint32_t> found;
  for (const std::string& node : nodes) {
    if (const uint32_t number = item(node); number != kNoItem) found.push_back(number);
  }
  return found;
}

std::vector<float>& column_of(results::Overlay& overlay, std::string_view side, std::string_view field,
                              bool is_of_values, size_t size) {
  const auto found = std::ranges::find_if(overlay.columns, [&](const results::OverlayColumn& column) {
    return column.side == side && column.field == field && column.is_of_values == is_of_values;
  });
  if (found != overlay.columns.end()) return found->numbers;
  if (!side.empty() && std::ranges::find(overlay.sides, side) == overlay.sides.end()) overlay.sides.emplace_back(side);
  results::OverlayColumn& column = overlay.columns.emplace_back();
  column.side = side;
  column.field = field;
  column.is_of_values = is_of_values;
  column.numbers.assign(size, std::numeric_limits<float>::quiet_NaN());
  return column.numbers;
}

results::Overlay report_overlay(const JsonValue& report, const SceneNames& names) {
  const std::string& schema = report["schema"].text;
  const auto kind = std::ranges::find(kReportKinds, schema, &ReportKind::schema);
  if (kind == kReportKinds.end()) {
    if (schema.empty()) fail(ErrorCode::unsupported, "it is no report of assay: it has no `schema`");
    fail(ErrorCode::unsupported, "reports of kind `{}` are not shown", printable(schema));
  }
  return kind->read(report, names);
}

}  // namespace assay::scene
