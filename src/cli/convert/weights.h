#pragma once

#include "cli/convert/conversion.h"

namespace assay::cli {

// Only the weights as small integers: of engines that run, and the members of their Conversion.
OptionGroup engine_weights_group();
// The request of `--weights`, of a command that has it; only convert chooses layers.
tasks::WeightsRequest weights_request(const Arguments& arguments);

std::string_view weights_suffix(const Arguments& arguments, Target target);
std::vector<OptionGroup> weights_groups();
void request_weights(const Arguments& arguments, tasks::ConvertRequest& request);

}  // namespace assay::cli
