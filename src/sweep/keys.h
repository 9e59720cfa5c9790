#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "results/sweep.h"

namespace assay::sweep {

// A hexadecimal SHA-256.
std::string digest_of(std::string_view text);
std::string digest_of(Bytes bytes);

// One unit of a plan, by the numbers of its parts.
struct UnitAt {
  size_t model = 0;
  size_t column = 0;
  size_t shard = 0;
};

// The digest of all that decides the result of a unit: two units with one key have one result.
std::string unit_key(const results::SweepPlan& plan, const UnitAt& at);
// True if a model is run on a shard: of all such pairs the plan's share is, always the same ones.
bool is_chosen(const results::SweepPlan& plan, size_t model, size_t shard);
// All units that are run, by model, shard and column.
std::vector<UnitAt> units_of(const results::SweepPlan& plan);
// A record of a unit that says only which one it is.
results::SweepUnit blank_unit(const results::SweepPlan& plan, const UnitAt& at);

}  // namespace assay::sweep
