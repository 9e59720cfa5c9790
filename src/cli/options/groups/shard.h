#pragma once

#include "cli/options/arguments.h"
#include "cli/options/spec.h"
#include "surgery/shard/shard.h"

namespace assay::cli {

// How hints for sharding are made.
OptionGroup shard_group();
// Error (usage) for words that contradict themselves.
surgery::HintOptions hint_options(const Arguments& arguments);
// One line for each layer and each input and output of the hints.
std::vector<std::string> describe_hints(const formats::ShardHints& hints);

}  // namespace assay::cli
