#include "backends/engine/plans.h"

#include <algorithm>

#include "backends/engine/cards.h"
#include "backends/engine/plan_code.h"
#include "backends/engine/setting_names.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/paths.h"
#include "engine/layers/quantization.h"
#include "engine/run/device_storage.h"
#include "formats/tactic_replay.h"

namespace assay::backends {
namespace {

bool is_open(const exec::Port& port) {
  if (!port.type || port.type->kind != ir::TypeKind::tensor) return false;
  return !port.type->ranked ||
         std::ranges::any_of(port.type->dims, [](const exec::PortDim& dim) { return !dim.size.has_value(); });
}

}  // namespace

// Measurements and packed weights depend on how many threads will run.
template <typename Fn>
auto Plans::with_threads(Fn&& fn) const {
  if (options_.threads == 0) return fn();
  const ThreadPool pool(options_.threads);
  const PoolScope scope(pool);
  return fn();
}

Plans::Plans(const ir::Model& source, const exec::SessionOptions& options, DevicesPtr devices, bool measures,
             Diagnostics& findings)
    : source_(source),
      options_(options),
      signature_(exec::signature_of(source)),
      tapped_(source, options.values),
      devices_(std::move(devices)) {
  settings_ =
      with_threads([&] { return read_engine_settings(options.settings, devices_->first(), measures, findings); });
  tell_unused_types(options.settings, settings_.config.precision, findings);
  profiles_ = engine::make_profiles(signature_, settings_.config.profiles);
  check_profile();
  engine::check_precision(source, settings_.config.precision, findings);
  static_cast<void>(exec::TappedValues(source, settings_.debug_values));  // error if one is missing
  if (options.settings.has(setting::kInt8) && !engine::has_quantizers(source)) {
    findings.warn("engine_setting", "", "engine: the model has no quantizers: nothing is computed in 8-bit integers");
  }
}

Plans::Plans(const engine::SavedPlan& saved, const exec::SessionOptions& options, DevicesPtr devices,
             Diagnostics& findings)
    : source_(saved.source()),
      options_(options),
      signature_(saved.manifest().signature),
      tapped_(source_, options.values),
      saved_(&saved),
      devices_(std::move(devices)) {
  settings_ = with_threads([&] { return read_engine_settings(options.settings, devices_->first(), false, findings); });
  adopt(saved.manifest());
  tell_unused_types(options.settings, settings_.config.precision, findings);
  check_profile();
  saved.preset(*packed_);
}

void Plans::adopt(const engine::Manifest& manifest) {
  settings_.config.is_strict = manifest.is_strict;
  settings_.config.precision = manifest.precision;
  engine::set_machine(settings_.config.precision, devices_->first(), manifest.is_strict, manifest.excluded);
  engine::TacticOptions& tactics = settings_.config.tactics;
  tactics.most_workspace_bytes = manifest.most_workspace_bytes;
  tactics.families = manifest.families;
  tactics.excluded = manifest.excluded;
  tactics.excluded_of = manifest.excluded_of;
  profiles_ = manifest.profiles;
}

// Values that runs ask for are not merged where shapes come with the feeds: layers are others then.
void Plans::adopt_tactics(const engine::Manifest& manifest) {
  if (!options_.values.empty() || manifest.devices != fingerprints()) return;
  for (const engine::PlannedModel& planned : manifest.planned) {
    replays_.emplace(planned.shapes, engine::tactics_of(planned.layers));
  }
}

void Plans::check_profile() const {
  if (!settings_.profile || *settings_.profile < profiles_.size()) return;
  throw Error(ErrorCode::usage,
              fmt::format("there is no profile {}: the engine has {}", *settings_.profile,
                          profiles_.size() == 1 ? "one, 0" : fmt::format("0 to {}", profiles_.size() - 1)))
      .about("optimization_profile");
}

std::vector<engine::Fingerprint> Plans::fingerprints() const {
  return with_threads([&] { return devices_->fingerprints(); });
}

tensor::StoragePtr Plans::placed(const tensor::Tensor& value) const {
  const engine::Device& device = devices_->first();
  if (device.is_host()) return nullptr;
  const tensor::Datum shared = engine::shared_with_devices(value);
  const engine::DeviceStorage* const storage = engine::as_device_storage(shared.tensor());
  if (storage == nullptr) fail(ErrorCode::unsupported, "{} lies on the host only", tensor::name(value.dtype()));
  return std::make_shared<engine::DeviceStorage>(engine::DeviceStorage::Place{device, storage->on(device)});
}

std::optional<exec::DevicePlace> Plans::place_of(const tensor::Tensor& value) const {
  const engine::DeviceStorage* const storage = value.storage() ? engine::as_device_storage(value) : nullptr;
  const auto place = storage == nullptr ? std::nullopt : storage->find_place();
  if (!place || place->device.is_host()) return std::nullopt;
  return exec::DevicePlace{place->memory.first.value, place->device.number()};
}

tensor::StoragePtr Plans::lent(uint64_t address, uint64_t size_bytes) const {
  const engine::Device& device = devices_->first();
  if (device.is_host()) refuse_card_memory(address);
  const std::optional<engine::Buffer> memory = device.lent(address, size_bytes);
  return memory ? std::make_shared<engine::DeviceStorage>(engine::DeviceStorage::Place{device, *memory}) : nullptr;
}

bool Plans::has_open_inputs() const { return std::ranges::any_of(signature_.inputs, is_open); }

Shapes Plans::open_shapes(std::span<const exec::Feed> feeds) const {
  engine::check_feeds(profiles_, settings_.profile, feeds);
  Shapes shapes;
  if (std::ranges::none_of(signature_.inputs, is_open)) return shapes;
  for (const exec::Feed& feed : feeds) {
    const exec::Port* const port = exec::find_port(signature_.inputs, feed.name);
    if (port == nullptr || !is_open(*port) || !feed.value.is_tensor()) continue;
    shapes.emplace(feed.name, feed.value.tensor().shape());
  }
  return shapes;
}

std::optional<Shapes> Plans::best_shapes(const engine::Profile& profile) const {
  Shapes shapes;
  for (const exec::Port& input : signature_.inputs) {
    if (!is_open(input)) continue;
    const auto range = std::ranges::find(profile, input.name, &engine::ShapeRange::input);
    if (range == profile.end() || range->is_values) return std::nullopt;
    shapes.emplace(input.name, range->best);
  }
  return shapes;
}

bool Plans::plan_profiles() {
  bool are_complete = true;
  for (const engine::Profile& profile : profiles_) {
    const std::optional<Shapes> best = best_shapes(profile);
    are_complete = are_complete && best.has_value();
    if (best) plan(*best);
  }
  if (plans_.empty()) save_files({});  // so that what reads the files finds them
  return are_complete;
}

std::shared_ptr<const Planned> Plans::plan(const Shapes& shapes) {
  const std::scoped_lock lock(mutex_);
  if (!plans_.contains(shapes)) {
    if (!is_preparing_ && plans_.size() >= kKeptPlans) drop_oldest();
    const Plan& made = plans_[shapes] = {with_threads([&] { return make(shapes); })};
    save_files(made.planned->layers());
  }
  Plan& plan = plans_.at(shapes);
  plan.asked = ++calls_;
  return plan.planned;
}

void Plans::drop_oldest() {
  plans_.erase(std::ranges::min_element(plans_, {}, [](const auto& entry) { return entry.second.asked; }));
}

// A model that was planned earlier, unless a value is asked for that it computes inside a layer, and that would stay
// apart if it were lowered now.
std::optional<size_t> Plans::saved_for(const Shapes& shapes) const {
  const std::optional<size_t> found = saved_ == nullptr ? std::nullopt : saved_->find(shapes);
  if (!found || shapes.empty()) return found;
  for (const engine::ValuePlace& value : saved_->manifest().planned[*found].values) {
    if (value.now.empty() && std::ranges::find(options_.values, value.name) != options_.values.end()) return {};
  }
  return found;
}

// Names of values that are kept apart. If shapes come with the feeds, nobody can ask beforehand which values will be
// there: all that are named are kept. So are values between operators of float16, which have the same bits apart as
// within a layer.
std::vector<std::string> Plans::kept_apart(const Shapes& shapes) const {
  std::vector<std::string> names = settings_.debug_values;
  const engine::Precision& precision = settings_.config.precision;
  if (!shapes.empty() || precision.declares_float16())
    names.insert(names.end(), options_.values.begin(), options_.values.end());
  return names;
}

std::shared_ptr<const Planned> Plans::make(const Shapes& shapes) const {
  engine::ProgramOptions program;
  program.packed = packed_;
  if (is_preparing_) program.on_layer = options_.on_layer;
  program.is_strict = settings_.config.is_strict;
  program.rounds_halves = settings_.config.precision.rounds_halves;
  program.permits_tf32 = settings_.config.precision.tf32;
  program.tactics = settings_.config.tactics;
  if (const std::optional<size_t> saved = saved_for(shapes)) return make_saved(*saved, std::move(program));
  if (const auto replay = replays_.find(shapes); replay != replays_.end()) program.tactics.replayed = replay->second;
  return std::make_shared<const Planned>(Lowered(source_, shapes, kept_apart(shapes), settings_.config.precision),
                                         devices_->all(), std::move(program), options_.values);
}

// On another number of threads, a tactic may not compute its layer.
std::shared_ptr<const Planned> Plans::make_saved(size_t number, engine::ProgramOptions program) const {
  const engine::Manifest& manifest = saved_->manifest();
  const auto make = [&] {
    return std::make_shared<const Planned>(Lowered(*saved_, number), devices_->all(), program, options_.values);
  };
  program.tactics.replayed = engine::tactics_of(manifest.planned[number].layers);
  if (manifest.devices == devices_->fingerprints()) return make();
  const auto made = attempt(make);
  if (const auto* planned = std::get_if<0>(&made)) return *planned;
  program.tactics.replayed.clear();
  return make();
}

void Plans::save_files(const std::vector<engine::LayerRecord>& layers) const {
  if (!settings_.save_timing_cache.empty())
    save_timing_cache(settings_.save_timing_cache, *settings_.config.tactics.cache);
  if (!settings_.save_tactics.empty()) formats::save_tactic_replay(engine::tactics_of(layers), settings_.save_tactics);
  if (!settings_.save_engine.empty()) save(settings_.save_engine);
}

engine::Manifest Plans::manifest() const {
  engine::Manifest manifest;
  manifest.devices = fingerprints();
  const engine::TacticOptions& tactics = settings_.config.tactics;
  manifest.is_strict = settings_.config.is_strict;
  manifest.precision = settings_.config.precision;
  manifest.most_workspace_bytes = tactics.most_workspace_bytes;
  manifest.families = tactics.families;
  manifest.excluded = tactics.excluded;
  manifest.excluded_of = tactics.excluded_of;
  manifest.signature = signature_;
  manifest.profiles = profiles_;
  if (options_.path.empty() || saved_ != nullptr) return manifest;
  manifest.source = absolute_path(options_.path).lexically_normal().string();
  manifest.source_checksum = source_checksum(source_);
  return manifest;
}

void Plans::build_for(const std::filesystem::path& path) {
  built_.emplace(path);
  const bool keeps = !settings_.strips_plan;
  packed_->move_out({
      .begin =
          [=, this](const tensor::Tensor& weights) {
            if (keeps) built_->add_weights(weights);
          },
      .add =
          [=, this](const void* weights, const std::string& form, Bytes bytes) {
            if (keeps) built_->add_packed(weights, form, bytes);
          },
      .wait = [this] { built_->wait(); },
  });
}

void Plans::save_built() { finish(*built_); }

void Plans::save(const std::filesystem::path& path) const {
  engine::PlanSections sections(path);
  std::vector<engine::KeptWeights::Kept> kept;
  if (!settings_.strips_plan) kept = packed_->kept();
  for (const engine::KeptWeights::Kept& form : kept) {
    sections.add_packed(form.weights, form.form, {form.bytes.get(), form.size_bytes});
  }
  finish(sections);
}

void Plans::finish(engine::PlanSections& sections) const {
  engine::Manifest manifest = this->manifest();
  manifest.is_stripped = settings_.strips_plan;
  const bool needs_source = has_open_inputs() || settings_.keeps_source;
  manifest.source_weights = sections.add_model(source_, needs_source && !settings_.strips_plan);
  for (const auto& [shapes, plan] : plans_) {
    const Planned* const planned = plan.planned.get();
    const Lowered& lowered = planned->lowered();
    manifest.planned.push_back({.shapes = shapes,
                                .weights = sections.add_model(lowered.model(), !settings_.strips_plan),
                                .values = lowered.values(),
                                .layers = planned->layers(),
                                .memory_bytes = planned->memory_bytes()});
  }
  add_code(sections, *devices_);
  sections.finish(std::move(manifest));
}

uint64_t source_checksum(const ir::Model& model) {
  std::vector<uint64_t> sums = {engine::checksum_of(*tensor::make_mapped(model.source(), 0, model.source()->size()))};
  for (uint32_t i = 0; i < model.tensor_slots(); ++i) {
    const ir::TensorEntry& entry = model[ir::TensorId{i}];
    if (!entry.external_location.empty()) sums.push_back(engine::checksum_of(*entry.tensor.storage()));
  }
  return checksum(std::as_bytes(std::span(sums)));
}

}  // namespace assay::backends
