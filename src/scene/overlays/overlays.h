#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "results/engine_listing.h"
#include "results/overlay.h"
#include "scene/make.h"
#include "scene/overlays/json_value.h"

namespace assay::scene {

// Boxes and values of a scene by the names that reports use.
class SceneNames {
 public:
  SceneNames(const ir::Model& model, const MadeScene& made);
  // kNoItem where nothing has the name.
  uint32_t item(std::string_view node) const;
  uint32_t value(std::string_view name) const;
  // The box that gives the value.
  uint32_t producer(std::string_view value) const;
  std::vector<uint32_t> items(const std::vector<std::string>& nodes) const;
  size_t item_count() const { return made_.scene.items.size(); }
  size_t value_count() const { return made_.values.size(); }

 private:
  const MadeScene& made_;
  std::unordered_map<std::string_view, uint32_t> items_;
  std::unordered_map<std::string_view, uint32_t> values_;
};

// A JSON report of this program as it concerns a scene. Error (parse) for a damaged one, (unsupported) for one of
// another kind.
results::Overlay report_overlay(const JsonValue& report, const SceneNames& names);
results::Overlay plan_overlay(const results::EngineListing& plan, const SceneNames& names);
// The differences of two models, as an overlay of either one.
std::pair<results::Overlay, results::Overlay> difference_overlays(const ir::Model& a, const MadeScene& made_a,
                                                                  const ir::Model& b, const MadeScene& made_b);

// The parts of report_overlay, by what the report is of.
results::Overlay accuracy_overlay(const JsonValue& report, const SceneNames& names);
results::Overlay run_overlay(const JsonValue& report, const SceneNames& names);
results::Overlay profile_overlay(const JsonValue& report, const SceneNames& names);
results::Overlay lint_overlay(const JsonValue& report, const SceneNames& names);
results::Overlay compatibility_overlay(const JsonValue& report, const SceneNames& names);
results::Overlay range_overlay(const JsonValue& report, const SceneNames& names);

// The column of a side and field, all NaN when it is new.
std::vector<float>& column_of(results::Overlay& overlay, std::string_view side, std::string_view field,
                              bool is_of_values, size_t size);

}  // namespace assay::scene
