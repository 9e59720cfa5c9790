#include "scene/overlays/overlays.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "formats/json/field_reader.h"
#include "ir/naming.h"
#include "results/fields/bench.h"
#include "results/fields/check.h"
#include "results/fields/debug.h"

namespace assay::scene {
namespace {

struct ReportKind {
  std::string_view schema;
  results::Overlay (*read)(std::string_view, const SceneNames&);
};

template <typename Report, results::Overlay (*make)(const Report&, const SceneNames&)>
constexpr ReportKind kind_of(std::string_view schema) {
  return {schema, [](std::string_view json, const SceneNames& names) {
            return make(formats::read_report<Report>(json), names);
          }};
}

constexpr std::array kReportKinds = {
    kind_of<results::AccuracyHunt, accuracy_overlay>("assay/debug-accuracy/1"),
    kind_of<results::RunReport, run_overlay>("assay/run/1"),
    kind_of<results::ProfileReport, profile_overlay>("assay/profile/1"),
    kind_of<results::LintReport, lint_overlay>("assay/check-lint/1"),
    kind_of<results::CompatibilityReport, compatibility_overlay>("assay/check-compatibility/1"),
    kind_of<results::RangeReport, range_overlay>("assay/debug-range/1"),
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

results::Overlay report_overlay(std::string_view json, const SceneNames& names) {
  std::string schema;
  formats::FieldReader fields(json);
  fields("schema", schema);
  const auto kind = std::ranges::find(kReportKinds, schema, &ReportKind::schema);
  if (kind == kReportKinds.end()) {
    if (schema.empty()) fail(ErrorCode::unsupported, "it is no report of assay: it has no `schema`");
    fail(ErrorCode::unsupported, "reports of kind `{}` are not shown", printable(schema));
  }
  return kind->read(json, names);
}

}  // namespace assay::scene
