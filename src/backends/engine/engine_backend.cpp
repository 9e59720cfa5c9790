#include "backends/engine/engine_backend.h"

#include "backends/engine/cards.h"
#include "backends/engine/engine_session.h"
#include "backends/engine/plans.h"
#include "base/error.h"
#include "ir/verify.h"
#include "ops/resolve.h"

namespace assay::backends {
namespace {

class EngineBackend final : public exec::Backend {
 public:
  explicit EngineBackend(DeviceFinder find_devices) : find_devices_(std::move(find_devices)) {}
  std::string_view name() const override { return "engine"; }
  std::string_view title() const override { return "the engine"; }
  exec::BackendTraits traits() const override {
    return {.has_plans = true, .builds_engines = true, .takes_quantized_copies = true, .widens_float16 = true};
  }
  std::string side_name(const exec::Settings& settings) const override {
    return asks_for_card(settings) ? "engine-cuda" : "engine";
  }
  std::vector<exec::DeviceProbe> devices(const exec::LibrarySearch& search) const override {
    return examine_cards(search);
  }
  std::vector<exec::Setting> settings() const override { return declared_engine_settings(); }
  std::optional<tensor::DType> least_type(const exec::Settings& settings) const override {
    return least_engine_type(settings);
  }
  std::vector<exec::SettingChange> stricter_settings(const exec::Settings& settings) const override {
    return stricter_engine_settings(settings);
  }
  exec::Probe probe(const exec::LibrarySearch&) const override { return {.usable = true, .version = "built in"}; }

  // Nodes that no kernel computes run on the reference operators.
  std::vector<exec::Refusal> refusals(const ir::Model& model, const exec::LibrarySearch& search) const override {
    return exec::make_backend("ref")->refusals(model, search);
  }

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics& findings) const override {
    return make_engine_session(model, options, find_devices_(options, findings), findings);
  }

  void build_plan(const ir::Model& model, const exec::SessionOptions& options, const std::filesystem::path& plan,
                  Diagnostics& findings) const override {
    refuse_unknown(model);
    Plans plans(model, options, find_devices_(options, findings), true, findings);
    plans.build_for(plan);
    if (!plans.plan_profiles()) {
      findings.warn("engine_profile", "", "no shapes are given for the open inputs: nothing is planned ahead",
                    "trt_opt_shapes");
    }
    plans.save_built();
  }

  std::unique_ptr<exec::Session> open_plan(const std::filesystem::path& plan, const exec::SessionOptions& options,
                                           Diagnostics& findings) const override {
    return open_engine_plan(plan, options, find_devices_, findings);
  }

 private:
  // Throws for nodes at which every run of the plan would end.
  void refuse_unknown(const ir::Model& model) const {
    for (const exec::Refusal& refusal : refusals(model, {})) {
      if (model[refusal.node].graph != model.main_graph()) continue;
      with_frame([&] { return ir::describe(model, refusal.node); },
                 [&] { throw Error(ErrorCode::unsupported, refusal.reason).remedied_by(refusal.remedy); });
    }
  }

  DeviceFinder find_devices_;
};

}  // namespace

exec::BackendPtr make_engine_backend(DeviceFinder find_devices) {
  return std::make_unique<EngineBackend>(std::move(find_devices));
}

}  // namespace assay::backends
