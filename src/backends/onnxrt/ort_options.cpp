#include "backends/onnxrt/ort_options.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "backends/onnxrt/ort_assignment.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"

namespace assay::backends::ort {
namespace {

struct Level {
  std::string_view word;
  int number;
};
constexpr std::array kLevels = {Level{"ort_disable_all", 0}, Level{"ort_enable_basic", 1},
                                Level{"ort_enable_extended", 2}, Level{"ort_enable_layout", 3},
                                Level{"ort_enable_all", 99}};

int optimization_level(const std::string& wish) {
  if (wish.empty()) return kLevels.back().number;
  const std::string word = to_lower(wish);
  for (const Level& level : kLevels) {
    if (level.word == word || level.word.substr(level.word.find('_', 4) + 1) == word) return level.number;
  }
  fail(ErrorCode::usage, "unknown level of graph optimisation `{}`; expected one of {}", printable(wish),
       "ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED, ORT_ENABLE_ALL");
}

// The Python package that has a provider which this library lacks.
std::string package_hint(std::string_view letters) {
  constexpr std::array kPackages = {std::pair{"cuda", "onnxruntime-gpu"}, std::pair{"tensorrt", "onnxruntime-gpu"},
                                    std::pair{"openvino", "onnxruntime-openvino"}};
  for (const auto& [provider, package] : kPackages) {
    if (letters.find(provider) == std::string_view::npos) continue;
    return fmt::format("; the package {} has it, in the place of onnxruntime", package);
  }
  return {};
}

// The provider that is meant: of that name, or the first with these letters in it.
const std::string& find_provider(const std::vector<std::string>& available, const std::string& wish) {
  const auto exact = std::ranges::find(available, wish);
  if (exact != available.end()) return *exact;
  const std::string letters = to_lower(wish);
  for (const std::string& provider : available) {
    if (to_lower(provider).find(letters) != std::string::npos) return provider;
  }
  fail(ErrorCode::usage, "onnxrt has no provider `{}`; available: {}{}", printable(wish), join(available, ", "),
       package_hint(letters));
}

void append_cuda(const Library& library, SessionOptions* options) {
  CudaOptions* made = nullptr;
  library.call(kCreateCudaOptions, &made);
  const Owned<CudaOptions> cuda = library.own(made);
  library.call(kAppendCuda, options, cuda.get());
}

void append_tensorrt(const Library& library, SessionOptions* options) {
  TensorRtOptions* made = nullptr;
  library.call(kCreateTensorRtOptions, &made);
  const Owned<TensorRtOptions> tensorrt = library.own(made);
  library.call(kAppendTensorRt, options, tensorrt.get());
}

// Others go by a short name, which some of them want in capitals.
void append_other(const Library& library, SessionOptions* options, const std::string& provider) {
  const std::string name = provider.substr(0, provider.rfind("ExecutionProvider"));
  std::string capitals = name;
  std::ranges::transform(capitals, capitals.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
  try {
    library.call(kAppendProvider, options, name.c_str(), nullptr, nullptr, 0);
  } catch (const Error&) {
    library.call(kAppendProvider, options, capitals.c_str(), nullptr, nullptr, 0);
  }
}

void append_provider(const Library& library, SessionOptions* options, const std::string& provider) {
  if (provider == "CPUExecutionProvider") return;  // always the last resort
  if (provider == "CUDAExecutionProvider") return append_cuda(library, options);
  if (provider == "TensorrtExecutionProvider") return append_tensorrt(library, options);
  append_other(library, options, provider);
}

// A provider from a library of its own, with the devices that it has here.
struct Plugin {
  std::string provider;
  std::vector<const EpDevice*> devices;
};

// `NAME=LIBRARY`, or the library alone.
Plugin find_plugin(const Library& library, const std::string& word) {
  const size_t sign = word.find('=');
  const std::string name = sign == std::string::npos ? "" : word.substr(0, sign);
  const std::string path = sign == std::string::npos ? word : word.substr(sign + 1);
  const std::vector<const EpDevice*> devices = library.plugin_devices(path);
  std::vector<std::string> providers;
  for (const EpDevice* const device : devices) {
    const std::string provider = library.provider_of(device);
    if (std::ranges::find(providers, provider) == providers.end()) providers.push_back(provider);
  }
  if (name.empty() && providers.size() > 1) {
    fail(ErrorCode::usage, "`{}` has several providers: {}; write NAME=LIBRARY", printable(path),
         join(providers, ", "));
  }
  Plugin plugin{name.empty() ? providers.front() : find_provider(providers, name), {}};
  std::ranges::copy_if(devices, std::back_inserter(plugin.devices),
                       [&](const EpDevice* device) { return library.provider_of(device) == plugin.provider; });
  return plugin;
}

// A provider takes devices of one kind at a time; the first is the one that it prefers.
void append_plugin(const Library& library, SessionOptions* options, const std::string& word,
                   const std::vector<std::string>& settings) {
  const Plugin plugin = find_plugin(library, word);
  std::vector<std::string> names;
  std::vector<const char*> keys;
  std::vector<const char*> values;
  names.reserve(settings.size());
  for (const std::string& setting : settings) {
    const size_t sign = setting.find('=');
    if (sign == std::string::npos) {
      throw Error(ErrorCode::usage, fmt::format("expected KEY=VALUE for a provider, seen `{}`", printable(setting)))
          .about("ep_options");
    }
    keys.push_back(names.emplace_back(setting.substr(0, sign)).c_str());
    values.push_back(setting.c_str() + sign + 1);
  }
  library.call(kAppendEpDevices, options, library.env(), plugin.devices.data(), 1, keys.data(), values.data(),
               keys.size());
}

}  // namespace

std::vector<std::string> chosen_providers(const Library& library, const exec::SessionOptions& wishes) {
  const std::vector<std::string>& wished = wishes.settings.list(kProviders);
  std::vector<std::string> chosen;
  for (const std::string& word : wishes.settings.list(kPlugins)) chosen.push_back(find_plugin(library, word).provider);
  if (wished.empty()) chosen.emplace_back("CPUExecutionProvider");
  const std::vector<std::string> available = library.providers();
  for (const std::string& wish : wished) chosen.push_back(find_provider(available, wish));
  return chosen;
}

Owned<SessionOptions> make_options(const Library& library, const exec::SessionOptions& wishes) {
  const int level = optimization_level(wishes.settings.text(kOptimizationLevel));
  SessionOptions* made = nullptr;
  library.call(kCreateSessionOptions, &made);
  Owned<SessionOptions> options = library.own(made);
  library.call(kSetLogSeverity, options.get(), static_cast<int>(LogSeverity::fatal));
  library.call(kSetOptimizationLevel, options.get(), level);
  library.call(kSetIntraOpThreads, options.get(),
               static_cast<int>(wishes.threads == 0 ? thread_count() : wishes.threads));
  library.call(kSetInterOpThreads, options.get(), 1);
  // Values of many layers are given back one by one: from an arena, no memory would return before the last.
  if (!wishes.values.empty()) library.call(kDisableArena, options.get());
  if (wishes.settings.has(kShowAssignment)) note_assignment(library, options.get());
  for (const std::string& word : wishes.settings.list(kPlugins)) {
    append_plugin(library, options.get(), word, wishes.settings.list(kPluginOptions));
  }
  const std::vector<std::string> available = library.providers();
  for (const std::string& wish : wishes.settings.list(kProviders)) {
    append_provider(library, options.get(), find_provider(available, wish));
  }
  return options;
}

}  // namespace assay::backends::ort
