#pragma once

#include <string>
#include <vector>

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "tasks/inputs.h"

namespace assay::cli {

// `--shard`, `--rank-models`, `--rank-timeout`.
OptionGroup ranks_group();
// True if ranks are to run the model.
bool has_shard(const Arguments& arguments);
// Arguments in which several models beside `--shard ranks` have their places: the first is the model, the others are
// --rank-models.
Arguments with_models_of_ranks(const Arguments& arguments);
// The names of backends, of which the first one runs the shards.
std::vector<std::string> with_shard(std::vector<std::string> backends, const Arguments& arguments);
void set_rank_settings(const Arguments& arguments, exec::Settings& settings);

}  // namespace assay::cli
