#include "exec/set_backend.h"

#include <algorithm>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "exec/library_search.h"

namespace assay::exec {
namespace {

constexpr std::string_view kDevice = "device";
constexpr std::string_view kCard = "cuda";
constexpr std::string_view kProcessor = "cpu";

// Words of a kind of ranks, before their number.
bool is_shard(std::string_view word) {
  return word == "tp" || word == "cp" || word == "copies" || word == "ranks" || word == "each";
}

bool is_number(std::string_view word) { return word.find_first_not_of("0123456789") == std::string_view::npos; }

// `@old` of /envs/old and /envs/old/bin/python
std::string environment_label(const std::string& python) {
  if (python.empty()) return {};
  std::filesystem::path folder = std::filesystem::path(python).lexically_normal();
  if (folder.filename().empty()) folder = folder.parent_path();
  if (folder.parent_path().filename() == "bin") folder = folder.parent_path().parent_path();
  return "@" + folder.filename().string();
}

class SetBackend final : public Backend {
 public:
  explicit SetBackend(BackendWords words) : words_(std::move(words)), base_(make_backend(words_.backend)) {
    if (!words_.shard.empty()) base_ = make_ranked_backend(words_.shard, std::move(base_));
  }

  std::string_view name() const override { return base_->name(); }
  std::string_view title() const override { return base_->title(); }
  BackendTraits traits() const override { return base_->traits(); }
  std::string side_name(const Settings& given) const override {
    return base_->side_name(with_words(given)) + environment_label(words_.python);
  }
  std::vector<DeviceProbe> devices(const LibrarySearch& search) const override { return base_->devices(search); }
  std::vector<Setting> settings() const override { return base_->settings(); }
  std::optional<tensor::DType> least_type(const Settings& given) const override {
    return base_->least_type(with_words(given));
  }
  std::vector<SettingChange> stricter_settings(const Settings& given) const override {
    return base_->stricter_settings(with_words(given));
  }
  Probe probe(const LibrarySearch& search) const override { return base_->probe(with_words(search)); }
  FoundLibrary library(const LibrarySearch& search) const override { return base_->library(with_words(search)); }
  std::vector<Refusal> refusals(const ir::Model& model, const LibrarySearch& search) const override {
    return base_->refusals(model, with_words(search));
  }
  std::vector<ir::NodeId> blamed(const ir::Model& model, const Error& error) const override {
    return base_->blamed(model, error);
  }
  std::unique_ptr<Session> prepare(const ir::Model& model, const SessionOptions& options,
                                   Diagnostics& findings) const override {
    return base_->prepare(model, with_words(options), findings);
  }
  void build_plan(const ir::Model& model, const SessionOptions& options, const std::filesystem::path& plan,
                  Diagnostics& findings) const override {
    base_->build_plan(model, with_words(options), plan, findings);
  }
  std::unique_ptr<Session> open_plan(const std::filesystem::path& plan, const SessionOptions& options,
                                     Diagnostics& findings) const override {
    return base_->open_plan(plan, with_words(options), findings);
  }

 private:
  Settings with_words(Settings settings) const {
    for (const SettingChange& change : words_.changes) change.apply(settings);
    return settings;
  }
  LibrarySearch with_words(LibrarySearch search) const {
    if (!words_.python.empty()) search.python = words_.python;
    return search;
  }
  SessionOptions with_words(SessionOptions options) const {
    options.settings = with_words(std::move(options.settings));
    options.search = with_words(std::move(options.search));
    if (!words_.python.empty()) check_environment(options.search);
    return options;
  }

  // Another environment's library must not stand in for one that is missing.
  void check_environment(const LibrarySearch& search) const {
    const auto plain = [](const std::filesystem::path& path) {
      return absolute_path(path).lexically_normal().string();
    };
    const std::string found = plain(base_->library(search).path);
    for (const std::filesystem::path& folder : package_folders(search.python)) {
      if (found.starts_with(plain(folder) + "/")) return;
    }
    fail(ErrorCode::backend, "the Python `{}` has no {}", printable(search.python), base_->title());
  }

  BackendWords words_;
  BackendPtr base_;
};

}  // namespace

bool has_words(std::string_view backend) { return backend.find_first_of(":@") != std::string_view::npos; }

BackendWords BackendWords::parse(std::string_view text) {
  if (const size_t at = text.find('@'); at < text.find(':')) {
    return {.backend = std::string(text.substr(0, at)), .changes = {}, .python = std::string(text.substr(at + 1))};
  }
  const std::vector<std::string_view> parts = split(text, ':');
  BackendWords words{.backend = std::string(parts.front()), .changes = {}};
  std::vector<std::string> known;
  bool has_device = false;
  for (const Setting& setting : make_backend(words.backend)->settings()) {
    if (setting.kind == Setting::Kind::flag && !setting.is_ignored) known.emplace_back(setting.name);
    has_device = has_device || setting.name == kDevice;
  }
  const auto device = [&](std::string name) { words.changes.push_back({std::string(kDevice), std::move(name)}); };
  for (size_t i = 1; i < parts.size(); ++i) {
    const bool has_number = i + 1 < parts.size() && !parts[i + 1].empty() && is_number(parts[i + 1]);
    for (const std::string_view word : split(parts[i], '+')) {
      if (has_device && word == kProcessor) {
        device(std::string(word));
      } else if (has_device && word == kCard) {
        device(has_number ? fmt::format("{}:{}", word, parts[++i]) : std::string(word));
      } else if (has_number && is_shard(word)) {
        words.shard = fmt::format("{}:{}", word, parts[++i]);
      } else if (std::ranges::find(known, word) != known.end()) {
        words.changes.push_back({std::string(word), ""});
      } else {
        if (has_device) known.insert(known.end(), {std::string(kProcessor), std::string(kCard)});
        const std::optional<std::string> near = did_you_mean(word, known);
        fail(ErrorCode::usage, "`{}` has no setting `{}`{}", words.backend, printable(word),
             near ? fmt::format("; did you mean `{}`?", *near) : "");
      }
    }
  }
  return words;
}

BackendPtr make_set_backend(BackendWords words) { return std::make_unique<SetBackend>(std::move(words)); }

}  // namespace assay::exec
