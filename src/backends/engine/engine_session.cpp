#include "backends/engine/engine_session.h"

#include <algorithm>

#include "backends/engine/execution.h"
#include "backends/engine/plan_code.h"
#include "backends/engine/setting_names.h"
#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "onnx/load.h"

namespace assay::backends {
namespace {

// The source that a session was opened from and that its plans need.
struct Origin {
  std::optional<engine::SavedPlan> plan;
  std::optional<ir::Model> model;
};

class EngineSession final : public exec::Session {
 public:
  EngineSession(std::unique_ptr<const Origin> origin, std::unique_ptr<Plans> plans)
      : origin_(std::move(origin)), plans_(std::move(plans)) {
    if (!plans_->has_open_inputs()) static_plan_ = plans_->plan({});
    plans_->end_preparing();
  }

  const exec::Signature& signature() const override { return plans_->signature(); }

  exec::TapAnswer answer(std::string_view value) const override {
    if (!static_plan_ || plans_->tapped().given(value, {})) return {};
    const Lowered& lowered = static_plan_->lowered();
    if (lowered.current(value).valid()) return {};
    return {exec::TapAnswer::Kind::absent, lowered.layer_with(value), "operators were merged"};
  }

  std::optional<std::vector<exec::LayerElsewhere>> elsewhere() const override {
    if (!static_plan_) return std::nullopt;
    std::vector<exec::LayerElsewhere> found;
    const std::string_view own = static_plan_->program().devices().first().name();
    for (engine::LayerRecord& layer : static_plan_->layers()) {
      if (!layer.name.empty() && layer.device != own) found.push_back({layer.tactic, std::move(layer.origins)});
    }
    return found;
  }

  tensor::StoragePtr lent(uint64_t address, uint64_t size_bytes) const override {
    return plans_->lent(address, size_bytes);
  }

  std::optional<exec::DevicePlace> place_of(const tensor::Tensor& value) const override {
    return plans_->place_of(value);
  }

  std::unique_ptr<exec::Execution> make_execution(const exec::ExecutionOptions& options) const override {
    return make_engine_execution(*plans_, options);
  }

 private:
  std::unique_ptr<const Origin> origin_;
  std::unique_ptr<Plans> plans_;
  std::shared_ptr<const Planned> static_plan_;
};

// A model that the user names, of the form of the one that the plan was built from.
ir::Model load_refit(const std::string& path, const engine::Manifest& manifest) {
  Diagnostics findings;
  ir::Model model = onnx::load(path, {.is_onnx = true}, findings);
  const exec::Signature signature = exec::signature_of(model);
  const auto names_alike = [](const std::vector<exec::Port>& a, const std::vector<exec::Port>& b) {
    return std::ranges::equal(a, b, {}, &exec::Port::name, &exec::Port::name);
  };
  if (!names_alike(signature.inputs, manifest.signature.inputs) ||
      !names_alike(signature.outputs, manifest.signature.outputs)) {
    throw Error(ErrorCode::usage, fmt::format("`{}` has other inputs or outputs than the plan", printable(path)))
        .about("refit_from");
  }
  return model;
}

// The source model of a plan. A file that cannot be loaded any more is not the model that it was.
std::optional<ir::Model> find_source(const engine::Manifest& manifest) {
  if (manifest.source.empty() || !is_file(manifest.source)) return std::nullopt;
  const auto load = [&]() -> std::optional<ir::Model> {
    Diagnostics findings;
    ir::Model model = onnx::load(manifest.source, {.is_onnx = true}, findings);
    if (source_checksum(model) != manifest.source_checksum) return std::nullopt;
    return model;
  };
  auto loaded = attempt(load);
  return std::holds_alternative<Error>(loaded) ? std::nullopt : std::get<0>(std::move(loaded));
}

bool lacks_device(const engine::Manifest& manifest, const FoundDevices& here) {
  const std::vector<engine::Fingerprint> found = here.fingerprints();
  return !std::ranges::all_of(manifest.devices, [&](const engine::Fingerprint& device) {
    return std::ranges::find(found, device.device, &engine::Fingerprint::device) != found.end();
  });
}

[[noreturn]] void fail_without_source(const std::filesystem::path& path, const engine::Manifest& manifest,
                                      const std::string& difference, bool is_device_gone) {
  if (difference.empty()) {
    throw Error(ErrorCode::usage, fmt::format("`{}` has no weights, and its model is no longer at `{}`",
                                              printable(path.string()), printable(manifest.source)))
        .remedied_by("refit_from");
  }
  fail(is_device_gone ? ErrorCode::unsupported : ErrorCode::usage,
       "`{}` was built for another machine ({}), and its model is no longer at `{}`: build it again",
       printable(path.string()), difference, printable(manifest.source));
}

}  // namespace

std::unique_ptr<exec::Session> make_engine_session(const ir::Model& model, const exec::SessionOptions& options,
                                                   DevicesPtr devices, Diagnostics& findings) {
  return std::make_unique<EngineSession>(nullptr,
                                         std::make_unique<Plans>(model, options, std::move(devices), false, findings));
}

std::unique_ptr<exec::Session> open_engine_plan(const std::filesystem::path& path, const exec::SessionOptions& options,
                                                const DeviceFinder& find_devices, Diagnostics& findings) {
  auto origin = std::make_unique<Origin>();
  const engine::Manifest& manifest = origin->plan.emplace(engine::open_plan(path)).manifest();
  check_settings_of_plan(options.settings, manifest);
  DevicesPtr devices = find_devices(options, findings);
  offer_code(*origin->plan, *devices, options.settings.has(setting::kTrustPlan), findings);
  auto plans = std::make_unique<Plans>(*origin->plan, options, devices, findings);
  const std::string difference = engine::machine_difference(manifest.devices, plans->fingerprints());
  const std::string refit = options.settings.text(setting::kRefit);
  if (difference.empty() && refit.empty() && !manifest.is_stripped) {
    return std::make_unique<EngineSession>(std::move(origin), std::move(plans));
  }
  origin->model = refit.empty() ? find_source(manifest) : load_refit(refit, manifest);
  if (!origin->model) fail_without_source(path, manifest, difference, lacks_device(manifest, *devices));
  if (!difference.empty()) {
    findings.warn("engine_plan", "",
                  fmt::format("`{}` was built for another machine ({}): built anew from `{}`", printable(path.string()),
                              difference, printable(refit.empty() ? manifest.source : refit)));
  }
  Diagnostics told;  // findings about settings, reported before
  exec::SessionOptions anew = options;
  anew.path = refit.empty() ? manifest.source : refit;
  plans = std::make_unique<Plans>(*origin->model, anew, std::move(devices), false, told);
  plans->adopt(manifest);
  plans->adopt_tactics(manifest);
  return std::make_unique<EngineSession>(std::move(origin), std::move(plans));
}

}  // namespace assay::backends
