#pragma once

#include <filesystem>

#include "engine/device/kernel_code.h"
#include "engine/plan/manifest.h"
#include "engine/plan/plan_file.h"
#include "engine/weights/packed_weights.h"
#include "ir/model.h"

namespace assay::engine {

// A plan that was opened: its file, mapped, what it says of itself, and the source model as far as it is there.
class SavedPlan {
 public:
  // Error (parse) for what is no intact plan.
  explicit SavedPlan(std::shared_ptr<const MappedFile> file);

  const PlanFile& file() const { return file_; }
  const Manifest& manifest() const { return manifest_; }
  const ir::Model& source() const { return source_; }
  // The model that was planned for these shapes of the open inputs; nullopt: it was not.
  std::optional<size_t> find(const std::map<std::string, tensor::Shape>& shapes) const;
  // Code of the manifest, which lies in the file.
  KernelCode code(const CompiledCode& code) const;
  // Gives the packed weights of the plan, where they lie, to models that were read from it.
  void preset(KeptWeights& packed) const;

 private:
  PlanFile file_;
  Manifest manifest_;
  ir::Model source_;
};

// Opens the file of that path; errors name it.
SavedPlan open_plan(const std::filesystem::path& path);
// The manifest of a plan; nothing else of it is checked.
Manifest read_manifest_of(const std::filesystem::path& path);

}  // namespace assay::engine
