#include "backends/engine/ignored_settings.h"

#include <algorithm>

#include "backends/engine/builder_settings.h"
#include "base/error.h"
#include "base/text.h"

namespace assay::backends {
namespace {

using Kind = exec::Setting::Kind;

struct Ignored {
  std::string_view name;
  Kind kind = Kind::flag;
  bool is_list = false;
  std::string_view words = {};  // possible values, joined by blanks; empty: any
};

constexpr Ignored kIgnored[] = {
    {"sparse-weights"},
    {"version-compatible"},
    {"exclude-lean-runtime"},
    {"disable-compilation-cache"},
    {"trt-safety-restricted"},
    {"use-dla"},
    {"allow-gpu-fallback"},
    {"direct-io"},
    {"weight-streaming"},
    {"plugin-instancenorm"},
    {"decomposable-attentions"},
    {"enable-uint8-asymmetric-quantization-dla"},
    {"weight-streaming-budget", Kind::word},
    {"max-aux-streams", Kind::word},
    {"tiling-optimization-level", Kind::word, false, "none fast moderate full 0 1 2 3"},
    {"profiling-verbosity", Kind::word, false, "layer_names_only detailed none default verbose"},
    {"hardware-compatibility-level", Kind::word, false, "none ampere_plus same_compute_capability"},
    {"runtime-platform", Kind::word, false, "same_as_build windows_amd64"},
    {"engine-capability", Kind::word, false, "standard safety dla_standalone default safe_gpu safe_dla"},
    {"allocation-strategy", Kind::word, false, "static profile runtime"},
    {"dla-workspace-allocation-strategy", Kind::word, false, "static profile runtime"},
    {"load-runtime", Kind::word},
    {"preview-features", Kind::word, true},
    {"quantization-flags", Kind::word, true},
    {"onnx-flags", Kind::word, true},
    {"tensor-formats", Kind::word, true},
    {"all-tensor-formats", Kind::word, true},
};

void check_word(const Ignored& ignored, std::string_view word) {
  if (ignored.words.empty()) return;
  std::vector<std::string> known;
  for (const std::string_view name : split(ignored.words, ' ')) known.emplace_back(name);
  if (std::ranges::find(known, to_lower(word)) != known.end()) return;
  const std::optional<std::string> near = did_you_mean(to_lower(word), known);
  throw Error(ErrorCode::usage,
              fmt::format("unknown value `{}`; {}", printable(word),
                          near ? fmt::format("did you mean `{}`?", *near) : "expected one of " + join(known, ", ")))
      .about(field_of(ignored.name));
}

}  // namespace

std::vector<exec::Setting> ignored_settings() {
  std::vector<exec::Setting> settings;
  for (const Ignored& ignored : kIgnored) {
    settings.push_back({.name = ignored.name,
                        .kind = ignored.kind,
                        .is_list = ignored.is_list,
                        .is_ignored = true,
                        .choices = {},
                        .help = "of TensorRT; it has no effect here"});
  }
  return settings;
}

void tell_ignored_settings(const exec::Settings& settings, Diagnostics& findings) {
  std::vector<std::string> names;
  for (const Ignored& ignored : kIgnored) {
    if (!settings.has(ignored.name)) continue;
    for (const std::string& word : settings.list(ignored.name)) {
      if (ignored.kind != Kind::flag) check_word(ignored, word);
    }
    names.push_back(fmt::format("`{}`", ignored.name));
  }
  if (names.empty()) return;
  findings.warn("engine_setting", "", "without effect on a processor: " + join(names, ", "));
}

}  // namespace assay::backends
