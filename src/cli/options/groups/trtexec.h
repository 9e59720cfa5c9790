#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/inputs.h"

namespace assay::cli {

// Options of trtexec, without those that the other groups have.
OptionGroup trtexec_group(const std::vector<OptionGroup>& others);
// Error (unsupported) for options that load plugins of TensorRT, or are about other hardware.
void refuse_trtexec_options(const Arguments& arguments);
// The given options that have no effect here.
std::vector<std::string> bench_options_without_effect(const Arguments& arguments);
// Adds the shapes of --shapes; otherwise those of the chosen profile.
void add_trtexec_shapes(const Arguments& arguments, std::vector<exec::InputShape>& shapes);
// `x:1x3,y:4`. Error (usage) for anything else.
std::vector<exec::InputShape> parse_trtexec_shapes(std::string_view option, std::string_view text);
// Reads the options that say how an engine is built.
void read_trtexec_builder(const Arguments& arguments, exec::Settings& settings);

}  // namespace assay::cli
