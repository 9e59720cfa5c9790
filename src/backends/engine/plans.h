#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "backends/engine/devices.h"
#include "backends/engine/engine_settings.h"
#include "backends/engine/planned.h"
#include "engine/plan/plan_models.h"
#include "engine/plan/saved_plan.h"
#include "exec/tapped_values.h"

namespace assay::backends {

constexpr size_t kKeptPlans = 32;  // of a session, and contexts of an execution

// The plans of a session: a model for each set of shapes that comes, each once as long as it is among the last that
// were asked for. Plans made before the first run stay. May be used from several threads.
class Plans {
 public:
  // Plans a source model, which must outlive the plans. `measures`: tactics are measured even if nobody asked for it.
  Plans(const ir::Model& source, const exec::SessionOptions& options, DevicesPtr devices, bool measures,
        Diagnostics& findings);
  // Starts with those of a saved plan, which must outlive them and have been built for this machine.
  Plans(const engine::SavedPlan& saved, const exec::SessionOptions& options, DevicesPtr devices, Diagnostics& findings);

  // Uses the decisions of a built plan for all that is planned here.
  void adopt(const engine::Manifest& manifest);
  // And so do its tactics, if it was built for this machine.
  void adopt_tactics(const engine::Manifest& manifest);
  std::shared_ptr<const Planned> plan(const Shapes& shapes);
  // Nobody is told any more what is planned.
  void end_preparing() { is_preparing_ = false; }
  // The shapes of the inputs whose declared shape is open. Error (usage) for feeds outside the profiles.
  Shapes open_shapes(std::span<const exec::Feed> feeds) const;
  bool has_open_inputs() const;
  // Puts forms packed from now on into the plan that save_built() finishes, and not into memory: it is not run.
  void build_for(const std::filesystem::path& path);
  void save_built();
  // Plans for the shapes that each profile is tuned for; false: a profile leaves some input open.
  bool plan_profiles();
  // All that was planned, as a file.
  void save(const std::filesystem::path& path) const;

  std::vector<engine::Fingerprint> fingerprints() const;
  bool has_other_devices() const { return !devices_->first().is_host(); }  // than the processor
  // A copy of a value on the first device, or memory of the caller there; null: it is the host's.
  tensor::StoragePtr placed(const tensor::Tensor& value) const;
  std::optional<exec::DevicePlace> place_of(const tensor::Tensor& value) const;
  tensor::StoragePtr lent(uint64_t address, uint64_t size_bytes) const;
  const exec::SessionOptions& options() const { return options_; }
  const exec::Signature& signature() const { return signature_; }
  const exec::TappedValues& tapped() const { return tapped_; }

 private:
  void drop_oldest();
  template <typename Fn>
  auto with_threads(Fn&& fn) const;
  std::shared_ptr<const Planned> make(const Shapes& shapes) const;
  std::vector<std::string> kept_apart(const Shapes& shapes) const;
  std::optional<Shapes> best_shapes(const engine::Profile& profile) const;
  void check_profile() const;
  std::optional<size_t> saved_for(const Shapes& shapes) const;
  std::shared_ptr<const Planned> make_saved(size_t number, engine::ProgramOptions program) const;
  engine::Manifest manifest() const;
  void finish(engine::PlanSections& sections) const;
  void save_files(const std::vector<engine::LayerRecord>& layers) const;

  const ir::Model& source_;
  const exec::SessionOptions options_;
  const exec::Signature signature_;
  const exec::TappedValues tapped_;
  const engine::SavedPlan* saved_ = nullptr;
  bool is_preparing_ = true;
  const DevicesPtr devices_;
  EngineSettings settings_;
  std::vector<engine::Profile> profiles_;
  std::map<Shapes, std::map<std::string, std::string, std::less<>>> replays_;  // tactics of an earlier plan
  std::shared_ptr<engine::KeptWeights> packed_ = std::make_shared<engine::KeptWeights>();
  std::mutex mutex_;
  struct Plan {
    std::shared_ptr<const Planned> planned;
    uint64_t asked = 0;  // when it was asked for last, in calls
  };
  std::map<Shapes, Plan> plans_;
  uint64_t calls_ = 0;
  std::optional<engine::PlanSections> built_;
};

// The checksum of the file that a model came from, and of the weights that it has in other files.
uint64_t source_checksum(const ir::Model& model);

}  // namespace assay::backends
