#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "engine/program/builder_config.h"
#include "exec/settings.h"

namespace assay::backends {

// Reads the settings of building an engine, with the files that they name. `measures`: tactics are measured, also if
// nobody asked for it. Error for files that cannot be read, (usage) for settings that make no sense.
engine::BuilderConfig read_builder_config(const exec::Settings& settings, const engine::Device& device, bool measures,
                                          Diagnostics& findings);

// Advice for seeing float16's error, which computing in float32 hides.
inline constexpr std::string_view kFloat16Hint =
    "float32 is faster here; with `strict`, or `obey` for single layers, results are rounded to float16 after each "
    "operator";

// `trt_min_shapes`: the field that errors name for a setting.
std::string field_of(std::string_view setting);
// nullopt: it is not set. Error (usage) for what is no number of at least 0.
std::optional<size_t> read_number(const exec::Settings& settings, std::string_view name);
engine::TimingCache load_cache(const std::string& path);

}  // namespace assay::backends
