#include "engine/devices/cuda/attention/attention_step.h"

#include <algorithm>
#include <limits>

#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kMostEarly = 32 << 10;  // bytes of shared memory of a block that may wait beside the launch before

// Room for what warps have found, and in its place for what is known of all parts.
int64_t shared_floats(const StepShape& shape, int64_t width) {
  return shape.take * std::max(kStepWarps * (width + 2), kMostStepParts + 2);
}

}  // namespace

bool AttentionStepWriter::suits() const {
  constexpr int64_t kMostRows = 16, kMostSize = 256;
  const AttentionGeometry& g = geometry();
  const tensor::DType type = desc_of(g.q).dtype;
  const auto is_alike = [&](const Matrices& each) {
    return !each.exist() || (desc_of(each).dtype == type && each.column == 1 && each.row >= 0 &&
                             each.row <= std::numeric_limits<int32_t>::max() / g.keys);
  };
  const auto is_known_size = [](int64_t size) { return size % kStepPack == 0 && size <= kMostSize; };
  return g.rows <= kMostRows && is_known_size(g.depth) && is_known_size(g.width) && is_alike(g.q) && is_alike(g.k) &&
         is_alike(g.v) && is_alike(g.k_cache.past) && is_alike(g.v_cache.past) && is_alike(g.k_cache.kept) &&
         is_alike(g.v_cache.kept) && has_known_caches();
}

// The keys of the past are as many as their values, and each that is kept is written by one block.
bool AttentionStepWriter::has_known_caches() const {
  const AttentionCache &k = geometry().k_cache, &v = geometry().v_cache;
  if (k.past.exist() != v.past.exist() || (k.past.exist() && k.past_rows != v.past_rows)) return false;
  return keeps_each_once(k.kept) && keeps_each_once(v.kept);
}

bool AttentionStepWriter::keeps_each_once(const Matrices& kept) const {
  if (!kept.exist()) return true;
  const std::vector<int64_t>& items = geometry().items;
  const size_t own = items.size() - (sharing() > 1 ? 1 : 0);
  for (size_t i = 0; i < own; ++i) {
    if (items[i] > 1 && kept.items[i] == 0) return false;
  }
  return true;
}

int64_t AttentionStepWriter::sharing() const {
  const AttentionGeometry& g = geometry();
  for (const Matrices* const each : {&g.k, &g.v, &g.k_cache.past, &g.v_cache.past, &g.k_cache.kept, &g.v_cache.kept}) {
    if (each->exist() && (each->items.empty() || each->items.back() != 0)) return 1;
  }
  return g.items.empty() ? 1 : g.items.back();
}

bool AttentionStepWriter::has_idle_warps(const Card& card) const {
  constexpr int64_t kMany = 16;  // queries for each processor
  const AttentionGeometry& g = geometry();
  return items() * g.rows > kMany * card.multiprocessors() && g.keys * shapes(card).front().lanes < kStepThreads;
}

std::vector<StepShape> AttentionStepWriter::shapes(const Card& card) const {
  const AttentionGeometry& g = geometry();
  const StepWork work = {
      .sets = items() / sharing(), .queries = sharing() * g.rows, .keys = g.keys, .size = std::max(g.depth, g.width)};
  return step_shapes(work, card.multiprocessors());
}

Launches AttentionStepWriter::write(Programs& programs, std::string_view shape, uint64_t workspace_bytes) {
  for (const StepShape& each : shapes(programs.card())) {
    if (shape.empty() || each.name() == shape) return write(programs, each, workspace_bytes);
  }
  return {};
}

Launches AttentionStepWriter::write(Programs& programs, const StepShape& shape, uint64_t workspace_bytes) {
  const AttentionGeometry& g = geometry();
  const int64_t blocks = items() / sharing() * shape.chunks, parts = blocks * shape.parts;
  Launches launches;
  launches.workspace_bytes = workspace_bytes;
  if (blocks > std::numeric_limits<int32_t>::max()) return launches;
  add_operands();
  add_kept();
  add_shape(shape);
  if (shape.parts > 1) {
    const int64_t sums = parts * shape.take * g.width * int64_t{sizeof(float)};
    writer().pointer("kParts", "float", workspace_pointer(static_cast<int64_t>(workspace_bytes)));
    writer().pointer("kPartFacts", "float", workspace_pointer(static_cast<int64_t>(workspace_bytes) + sums));
    writer().pointer("kCounters", "int", counters_pointer());
    launches.workspace_bytes += static_cast<uint64_t>(sums + parts * shape.take * 2 * int64_t{sizeof(float)});
    launches.counter_bytes = static_cast<uint64_t>(blocks) * sizeof(int32_t);
  }
  const int64_t shared_bytes = shared_floats(shape, g.width) * int64_t{sizeof(float)};
  writer().launch().shared_bytes = static_cast<unsigned>(shared_bytes);
  Launch launch = writer().finish(programs, kStepThreads, blocks, attention_step_text(), attention_scores_text());
  launch.grid[1] = static_cast<unsigned>(shape.parts);
  launch.begins_early = shared_bytes <= kMostEarly && parts <= programs.card().multiprocessors() * shape.resident;
  launches.all.push_back(std::move(launch));
  return launches;
}

void AttentionStepWriter::add_shape(const StepShape& shape) {
  const AttentionGeometry& g = geometry();
  writer().text("typedef K T;\n");
  writer().constant("kDepth", g.depth);
  writer().constant("kWidth", g.width);
  writer().constant("kLanes", shape.lanes);
  writer().constant("kTake", shape.take);
  writer().constant("kFlight", shape.flight);
  writer().constant("kResident", shape.resident);
  writer().constant("kIsSplit", shape.parts > 1 ? 1 : 0);
  writer().constant("kStepsAreEven", has_even_steps() ? 1 : 0);
  const bool has_own_ends = g.last_key.exist() && !g.last_key.items.empty() && g.last_key.items.back() != 0;
  const bool see_alike = !(g.is_causal && g.rows > 1) && !has_own_ends;
  writer().constant("kSeeAlike", shape.take == 1 || see_alike ? 1 : 0);
  writer().number("kPastKeys", g.k_cache.past.exist() ? g.k_cache.past_rows : 0);
  writer().divisor("kQueryRows", g.rows);
  writer().divisor("kChunks", shape.chunks);
  writer().number("kSharing", sharing());
  writer().number("kSetQueries", sharing() * g.rows);
  writer().number("kPartKeys", shape.part_keys);
}

void AttentionStepWriter::add_kept() {
  const AttentionGeometry& g = geometry();
  const std::vector<NamedMatrices> kept = {{"KeptK", "KeptK", "kept_k", g.k_cache.kept},
                                           {"KeptV", "KeptV", "kept_v", g.v_cache.kept}};
  for (const NamedMatrices& named : kept) add_written(named, desc_of(g.k).dtype, pointer_of(named.matrices));
  writer().constant("kKeepsKeys", g.k_cache.kept.exist() ? 1 : 0);
  writer().constant("kKeepsValues", g.v_cache.kept.exist() ? 1 : 0);
  add_places(kept);
}

// True if rows begin at multiples of a pack, as far as their memory does.
bool AttentionStepWriter::has_even_steps() const {
  const AttentionGeometry& g = geometry();
  const auto is_even = [](int64_t step) { return step % kStepPack == 0; };
  return std::ranges::all_of(std::initializer_list<const Matrices*>{&g.q, &g.k, &g.v, &g.k_cache.past, &g.v_cache.past,
                                                                    &g.k_cache.kept, &g.v_cache.kept},
                             [&](const Matrices* each) {
                               return !each->exist() ||
                                      (is_even(each->row) && std::ranges::all_of(each->items, is_even));
                             });
}

}  // namespace assay::engine::cuda
