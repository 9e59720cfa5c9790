#include "sweep/keys.h"

#include <fmt/format.h>

#include "base/sha256.h"

namespace assay::sweep {

std::string digest_of(std::string_view text) {
  const Digest digest = sha256(text);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string digest_of(Bytes bytes) {
  return digest_of(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

std::string unit_key(const results::SweepPlan& plan, const UnitAt& at) {
  const results::PlannedColumn& column = plan.columns[at.column];
  const results::PlannedColumn& reference = plan.columns.front();
  const results::PlannedShard& shard = plan.shards[at.shard];
  std::string text = fmt::format("assay {}\nmodel {}\nvariant {}\nside {} {}\n", plan.version,
                                 plan.models[at.model].digest, column.variant, column.side, column.version);
  text += fmt::format("reference {} {} {}\n", reference.variant, reference.side, reference.version);
  text += fmt::format("data {} {} {} {}\n", shard.begin, shard.end, shard.digest, shard.failure);
  text += fmt::format("options {}\nmachine {}\n", plan.options, plan.machine);
  return digest_of(text);
}

bool is_chosen(const results::SweepPlan& plan, size_t model, size_t shard) {
  if (plan.share >= 100) return true;
  const Digest digest = sha256(fmt::format("{} {}", plan.models[model].digest, plan.shards[shard].begin));
  const double place = (digest[0] * 256.0 + digest[1]) / 65536.0;
  return place * 100 < plan.share;
}

std::vector<UnitAt> units_of(const results::SweepPlan& plan) {
  std::vector<UnitAt> units;
  for (size_t model = 0; model < plan.models.size(); ++model) {
    for (size_t shard = 0; shard < plan.shards.size(); ++shard) {
      if (!is_chosen(plan, model, shard)) continue;
      for (size_t column = 0; column < plan.columns.size(); ++column) units.push_back({model, column, shard});
    }
  }
  return units;
}

results::SweepUnit blank_unit(const results::SweepPlan& plan, const UnitAt& at) {
  results::SweepUnit unit;
  unit.key = unit_key(plan, at);
  unit.model = plan.models[at.model].path;
  unit.variant = plan.columns[at.column].variant;
  unit.side = plan.columns[at.column].side;
  unit.shard = at.shard;
  return unit;
}

}  // namespace assay::sweep
