#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "formats/calibration_cache.h"
#include "results/compatibility.h"
#include "results/culprit.h"
#include "results/engine_listing.h"
#include "results/lint_report.h"
#include "results/overlay.h"
#include "results/profile_report.h"
#include "results/rewrite_steps.h"
#include "results/run_report.h"
#include "results/value_ranges.h"
#include "scene/make.h"

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
results::Overlay report_overlay(std::string_view json, const SceneNames& names);
// The ranges that a calibration cache gives to values: of 127 steps.
results::Overlay calibration_overlay(const formats::CalibrationCache& cache, const SceneNames& names);
results::Overlay plan_overlay(const results::EngineListing& plan, const SceneNames& names);
// The differences of two models, as an overlay of either one.
std::pair<results::Overlay, results::Overlay> difference_overlays(const ir::Model& a, const MadeScene& made_a,
                                                                  const ir::Model& b, const MadeScene& made_b);

// The steps of a rewrite, and the one that is to blame, from 1; 0: none is known.
struct RewriteSteps {
  std::vector<results::StepListing> list;
  uint64_t guilty = 0;
};

// The steps in a report of `surgeon sanitize`, `convert` or `debug bisect`; nullopt for other reports. Error
// (unsupported) if it has none.
std::optional<RewriteSteps> read_steps(std::string_view json);

// The nodes of steps that a scene shows: those that are removed from the model before the rewrite, those that are added
// to the one after it, or all that one model has. The items of each row are `gone` ones that it removes, those that it
// adds, and `kept` ones that it changes; `unseen` names nodes that one step makes and a later one removes.
enum class ShownSteps : uint8_t { removed, added, all };
results::Overlay steps_overlay(const RewriteSteps& steps, const SceneNames& names, ShownSteps shown);

// The parts of report_overlay, by what the report is of.
results::Overlay accuracy_overlay(const results::AccuracyHunt& report, const SceneNames& names);
results::Overlay run_overlay(const results::RunReport& report, const SceneNames& names);
results::Overlay profile_overlay(const results::ProfileReport& report, const SceneNames& names);
results::Overlay lint_overlay(const results::LintReport& report, const SceneNames& names);
results::Overlay compatibility_overlay(const results::CompatibilityReport& report, const SceneNames& names);
results::Overlay range_overlay(const results::RangeReport& report, const SceneNames& names);

// The column of a side and field, all NaN when it is new.
std::vector<float>& column_of(results::Overlay& overlay, std::string_view side, std::string_view field,
                              bool is_of_values, size_t size);

}  // namespace assay::scene
