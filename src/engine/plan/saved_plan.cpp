#include "engine/plan/saved_plan.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "engine/plan/plan_models.h"

namespace assay::engine {

SavedPlan::SavedPlan(std::shared_ptr<const MappedFile> file)
    : file_(std::move(file)),
      manifest_(read_manifest(file_.section(SectionKind::manifest, 0))),
      source_(read_model(file_, 0, manifest_.source_weights)) {
  const bool is_whole =
      file_.count(SectionKind::manifest) == 1 && file_.count(SectionKind::model) == manifest_.planned.size() + 1;
  if (!is_whole) fail(ErrorCode::parse, "the plan is damaged: its manifest names other sections");
}

std::optional<size_t> SavedPlan::find(const std::map<std::string, tensor::Shape>& shapes) const {
  const auto found = std::ranges::find(manifest_.planned, shapes, &PlannedModel::shapes);
  if (found == manifest_.planned.end()) return std::nullopt;
  return static_cast<size_t>(found - manifest_.planned.begin());
}

KernelCode SavedPlan::code(const CompiledCode& code) const {
  return {code.name, file_.shared(SectionKind::code, code.section),
          file_.section(SectionKind::code, code.section).size()};
}

void SavedPlan::preset(KeptWeights& packed) const {
  for (const PackedForm& form : manifest_.packed) {
    packed.preset(file_.section(SectionKind::weights, form.weights).data(), form.form,
                  file_.shared(SectionKind::packed, form.section),
                  file_.section(SectionKind::packed, form.section).size());
  }
}

namespace {

template <typename Fn>
auto with_path(const std::filesystem::path& path, Fn&& fn) {
  return with_frame([&] { return fmt::format("`{}`", printable(path.string())); }, fn);
}

}  // namespace

SavedPlan open_plan(const std::filesystem::path& path) {
  return with_path(path, [&] { return SavedPlan(MappedFile::open(path)); });
}

Manifest read_manifest_of(const std::filesystem::path& path) {
  return with_path(path, [&] {
    constexpr SectionKind kManifest = SectionKind::manifest;
    return read_manifest(PlanFile(MappedFile::open(path), kManifest).section(kManifest, 0));
  });
}

}  // namespace assay::engine
