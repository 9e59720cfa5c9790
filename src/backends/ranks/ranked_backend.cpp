#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "backends/ranks/ranked_session.h"
#include "base/error.h"
#include "base/text.h"
#include "exec/set_backend.h"

namespace assay::backends {
namespace {

constexpr std::string_view kDevice = "device";
constexpr double kUsualDeadline = 120;  // seconds

bool has_collectives(std::string_view backend) {
  static constexpr std::array<std::string_view, 3> kThese = {"ref", "ref-fp64", "engine"};
  return std::ranges::find(kThese, backend) != kThese.end();
}

class RankedBackend final : public exec::Backend {
 public:
  RankedBackend(std::string_view words, exec::BackendPtr base)
      : text_(words), words_(ShardWords::parse(words)), base_(std::move(base)) {
    const bool has_none = words_.kind == ShardWords::Kind::copies || words_.kind == ShardWords::Kind::each;
    if (has_none || has_collectives(base_->name())) return;
    fail(ErrorCode::unsupported, "{} has no collectives: ranks run on ref, ref-fp64 or engine", base_->name());
  }

  std::string_view name() const override { return base_->name(); }
  std::string_view title() const override { return base_->title(); }
  exec::BackendTraits traits() const override {
    exec::BackendTraits traits = base_->traits();
    traits.is_reference = false;
    traits.has_plans = traits.has_plans && words_.kind == ShardWords::Kind::each;
    traits.builds_engines = traits.builds_engines && traits.has_plans;
    return traits;
  }
  std::string side_name(const exec::Settings& settings) const override {
    std::string label = text_;
    std::erase(label, ':');
    return fmt::format("{}-{}", base_->side_name(of_first(settings)), label);
  }
  std::vector<exec::DeviceProbe> devices(const exec::LibrarySearch& search) const override {
    return base_->devices(search);
  }
  std::vector<exec::Setting> settings() const override { return base_->settings(); }
  std::optional<tensor::DType> least_type(const exec::Settings& settings) const override {
    return base_->least_type(of_first(settings));
  }
  std::vector<exec::SettingChange> stricter_settings(const exec::Settings& settings) const override {
    return base_->stricter_settings(of_first(settings));
  }
  exec::Probe probe(const exec::LibrarySearch& search) const override { return base_->probe(search); }
  exec::FoundLibrary library(const exec::LibrarySearch& search) const override { return base_->library(search); }
  std::vector<exec::Refusal> refusals(const ir::Model& model, const exec::LibrarySearch& search) const override {
    return base_->refusals(model, search);
  }
  std::vector<ir::NodeId> blamed(const ir::Model& model, const Error& error) const override {
    return base_->blamed(model, error);
  }

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions& options,
                                         Diagnostics& findings) const override {
    const RankSettings ranks = settings_of(options.settings);
    if (words_.kind != ShardWords::Kind::each) {
      exec::SessionOptions own = options;
      own.settings = of_first(options.settings);
      return make_ranked_session(*base_, model, ranks, own, findings);
    }
    return each(ranks, options, findings,
                [&](const exec::SessionOptions& own, Diagnostics& told) { return base_->prepare(model, own, told); });
  }

  void build_plan(const ir::Model& model, const exec::SessionOptions& options, const std::filesystem::path& plan,
                  Diagnostics& findings) const override {
    exec::SessionOptions own = options;
    own.settings = of_first(options.settings);
    base_->build_plan(model, own, plan, findings);
  }

  std::unique_ptr<exec::Session> open_plan(const std::filesystem::path& plan, const exec::SessionOptions& options,
                                           Diagnostics& findings) const override {
    if (words_.kind != ShardWords::Kind::each) return exec::Backend::open_plan(plan, options, findings);
    const RankSettings ranks = settings_of(options.settings);
    return each(ranks, options, findings,
                [&](const exec::SessionOptions& own, Diagnostics& told) { return base_->open_plan(plan, own, told); });
  }

 private:
  RankSettings settings_of(const exec::Settings& settings) const {
    RankSettings ranks = {.words = words_, .paths = settings.list("rank-models"), .devices = devices_of(settings)};
    ranks.deadline_seconds = deadline_of(settings.text("rank-timeout"));
    ranks.uses_library = settings.text("rank-transport") == "nccl";
    if (ranks.uses_library) check_cards(ranks.devices);
    if (ranks.devices.size() > 1 && static_cast<int64_t>(ranks.devices.size()) != words_.count) {
      throw Error(ErrorCode::unsupported, fmt::format("{} ranks need as many devices, or one for all; {} are named",
                                                      words_.count, ranks.devices.size()))
          .about(std::string(kDevice));
    }
    return ranks;
  }

  // A session for each copy, of which the first one tells findings.
  template <typename Make>
  std::unique_ptr<exec::Session> each(const RankSettings& ranks, const exec::SessionOptions& options,
                                      Diagnostics& findings, Make&& make) const {
    std::vector<std::unique_ptr<exec::Session>> sessions;
    for (int64_t rank = 0; rank < words_.count; ++rank) {
      Diagnostics told_before;
      sessions.push_back(
          make(options_of_rank(options, ranks, static_cast<size_t>(rank)), rank == 0 ? findings : told_before));
    }
    return make_session_of_each(std::move(sessions));
  }

  static std::vector<std::string> devices_of(const exec::Settings& settings) {
    std::vector<std::string> devices;
    if (!settings.has(kDevice)) return devices;
    const std::string list = settings.text(kDevice);
    for (const std::string_view device : split(list, ',')) devices.emplace_back(device);
    return devices;
  }

  // NCCL connects cards and nothing else.
  void check_cards(const std::vector<std::string>& devices) const {
    const bool is_alone = words_.kind == ShardWords::Kind::copies || words_.kind == ShardWords::Kind::each;
    const char* const usual = std::getenv("ASSAY_DEVICE");
    const std::string first = !devices.empty() ? devices.front() : usual == nullptr ? "" : usual;
    const bool is_on_card = base_->name() == "engine" && !first.empty() && first != "cpu";
    if (is_on_card && !is_alone) return;
    throw Error(ErrorCode::unsupported, is_alone ? "copies exchange nothing that NCCL could carry"
                                                 : "NCCL connects cards, and these ranks are on none")
        .about("rank-transport");
  }

  static exec::Settings of_first(exec::Settings settings) {
    const std::vector<std::string> devices = devices_of(settings);
    if (!devices.empty()) settings.set(std::string(kDevice), {devices.front()});
    return settings;
  }

  static double deadline_of(const std::string& text) {
    double seconds = kUsualDeadline;
    if (!text.empty()) std::from_chars(text.data(), text.data() + text.size(), seconds);
    return seconds;
  }

  std::string text_;
  ShardWords words_;
  exec::BackendPtr base_;
};

}  // namespace
}  // namespace assay::backends

namespace assay::exec {

BackendPtr make_ranked_backend(std::string_view shard, BackendPtr base) {
  return std::make_unique<backends::RankedBackend>(shard, std::move(base));
}

}  // namespace assay::exec
