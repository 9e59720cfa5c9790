// Attention, written out in operators or as the operator.
#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "engine/devices/cuda/attention/attention_step.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kMostNumbers = std::numeric_limits<int32_t>::max();

class AttentionWriter : public AttentionOperands {
 public:
  using AttentionOperands::AttentionOperands;

  static bool suits() { return true; }
  // A warp a query, or a block where there are few and each sees many keys; with so many bytes of the workspace in use.
  Launches write(Programs& programs, std::string_view /*variant*/ = {}, uint64_t workspace_bytes = 0) {
    const AttentionGeometry& g = geometry();
    constexpr int64_t kWarpLanes = 32, kManyWarps = 8, kManyKeys = 64;
    const int64_t queries = items() * g.rows;
    const bool is_block = queries <= programs.card().multiprocessors() && g.keys >= kManyKeys;
    const int64_t lanes = is_block ? kManyWarps * kWarpLanes : kWarpLanes;
    const int64_t value_pack = packed(g.width, {&g.v, &g.v_cache.past}), packs = g.width / value_pack;
    int64_t warps = is_block ? kManyWarps : 4;
    const auto shared_bytes = [&] {
      const int64_t of_query = g.keys + std::max<int64_t>(lanes / packs, 1) * g.width + warps;
      return warps * kWarpLanes / lanes * of_query * int64_t{sizeof(float)};
    };
    const int64_t shared = programs.card().shared_bytes();
    while (!is_block && warps > 1 && shared_bytes() > shared / 2) warps /= 2;
    Launches launches;
    launches.workspace_bytes = workspace_bytes;
    if (shared_bytes() > shared) return launches;
    writer().launch().shared_bytes = static_cast<unsigned>(shared_bytes());
    add_operands();
    writer().divisor("kQueryRows", g.rows);
    writer().number("kDepth", g.depth);
    writer().number("kWidth", g.width);
    writer().number("kPastKeys", g.k_cache.past.exist() ? g.k_cache.past_rows : 0);
    const int64_t pack = packed(g.depth, {&g.q, &g.k, &g.k_cache.past});
    writer().constant("kPack", pack);
    writer().constant("kValuePack", value_pack);
    writer().constant("kLanes", lanes);
    constexpr int64_t kMostKeyLanes = 8;
    writer().constant("kKeyLanes", std::gcd(g.depth / pack, kMostKeyLanes));
    add_places();
    writer().number("kQueries", queries);
    launches.all.push_back(writer().finish(programs, static_cast<unsigned>(warps * kWarpLanes),
                                           blocks_for(queries, static_cast<unsigned>(warps * kWarpLanes / lanes)),
                                           attention_text(), attention_scores_text()));
    return keeps(programs, launches) ? std::move(launches) : Launches();
  }

  // Queries and keys in tiles, on tensor cores.
  Launches write_tiles(Programs& programs) {
    const AttentionGeometry& g = geometry();
    constexpr int64_t kWarps = 4, kWarpRows = 16, kUsualKeys = 64;
    const tensor::DType type = desc_of(g.k).dtype;
    const int64_t bytes = tensor::bit_width(type) / 8, pad = 16 / bytes;
    const auto tiles_of = [&](int64_t queries) { return (g.rows + queries - 1) / queries; };
    const bool is_large = items() * tiles_of(kWarps * kWarpRows) >= programs.card().multiprocessors();
    const int64_t query_warps = is_large ? kWarps : 1;
    const int64_t queries = query_warps * kWarpRows;
    // Few blocks take all keys at once, if these are not too many.
    const bool takes_all = !is_large && g.keys > kUsualKeys && g.keys <= 2 * kUsualKeys;
    const int64_t key_tile = takes_all ? 2 * kUsualKeys : kUsualKeys, buffers = g.keys <= key_tile ? 1 : 2;
    const int64_t elements = (queries + buffers * key_tile) * (g.depth + pad) + buffers * key_tile * (g.width + pad);
    const int64_t joined = kWarps * kWarpRows * (g.width + 4) * int64_t{sizeof(float)};
    const int64_t shared_bytes = std::max(elements * bytes, joined);
    Launches launches;
    if (shared_bytes > programs.card().shared_bytes()) return launches;
    writer().launch().shared_bytes = static_cast<unsigned>(shared_bytes);
    add_operands();
    const bool is_tf32 = type == tensor::DType::float32;
    writer().text(fmt::format("typedef K T;\ntypedef {} Product;\n", is_tf32 ? "Tf32" : "T"));
    writer().constant("kIsTf32", is_tf32 ? 1 : 0);
    writer().constant("kDepth", g.depth);
    writer().constant("kWidth", g.width);
    writer().constant("kQueryWarps", query_warps);
    writer().constant("kKeyTile", key_tile);
    writer().constant("kBuffers", buffers);
    writer().constant("kPad", pad);
    writer().constant("kKeyWarps", kWarps / query_warps);
    writer().divisor("kTiles", tiles_of(queries));
    add_places();
    launches.all.push_back(writer().finish(programs, kWarps * 32, items() * tiles_of(queries), attention_tiles_text(),
                                           attention_scores_text()));
    return keeps(programs, launches) ? std::move(launches) : Launches();
  }

 private:
  // Neighbours in rows of so many elements that are read at once from all of these.
  int64_t packed(int64_t row, std::initializer_list<const Matrices*> from) const {
    constexpr int64_t kMost = 16;  // bytes
    int64_t bytes = 2;
    for (const Matrices* const each : from) {
      if (!each->exist()) continue;
      if (each->column != 1) return 1;
      bytes = std::max(bytes, int64_t{tensor::bit_width(desc_of(*each).dtype)} / 8);
    }
    return std::gcd(row, kMost / bytes);
  }
};

bool is_known(const Layer& layer, const AttentionGeometry& g) {
  int64_t queries = g.rows;
  for (const int64_t dim : g.items) queries *= dim;
  for (const Matrices* const each : {&g.q, &g.k, &g.v, &g.mask, &g.k_cache.past, &g.v_cache.past}) {
    if (each->exist() && !each->is_result && !is_short_float(layer.inputs[static_cast<size_t>(each->input)].dtype))
      return false;
  }
  return queries > 0 && g.keys > 0 && queries < kMostNumbers && g.keys < kMostNumbers;
}

class AttentionTiles final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "attention.tiles"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<AttentionGeometry> g = attention_geometry(layer);
    if (!g || !is_known(layer, *g) || !suits(layer, *g)) return {};
    Launches launches = AttentionWriter(layer, *g).write_tiles(programs());
    return launches.all.empty() ? nullptr : make_kernel(std::move(launches));
  }

 private:
  static bool suits(const Layer& layer, const AttentionGeometry& g) {
    constexpr int64_t kLeastRows = 8, kMostDepth = 128, kStep = 16;
    const tensor::DType type = layer.inputs[static_cast<size_t>(g.q.input)].dtype;
    const auto is_alike = [&](const Matrices& each) {
      return layer.inputs[static_cast<size_t>(each.input)].dtype == type && each.column == 1 &&
             each.row <= kMostNumbers;
    };
    const auto has_steps = [](int64_t size) { return size % kStep == 0 && size <= kMostDepth; };
    return (type != tensor::DType::float32 || layer.permits_tf32) && is_alike(g.q) && is_alike(g.k) && is_alike(g.v) &&
           g.out.column == 1 && g.rows >= kLeastRows && has_steps(g.depth) && has_steps(g.width) &&
           !g.k_cache.past.exist();
  }
};

// Launches that make the caches of a GroupQueryAttention, and its queries where these are turned.
class GroupQueryWriter {
 public:
  GroupQueryWriter(Programs& programs, const Layer& layer, const GroupQuery& g)
      : programs_(programs), layer_(layer), g_(g) {}

  Launches write() {
    Launches launches;
    for (const size_t which : {size_t{0}, size_t{1}}) {
      Target target{.to = output_pointer(1 + which),
                    .fresh = g_.fresh[which],
                    .heads = g_.kv_heads,
                    .rows = g_.present,
                    .is_cache = true,
                    .past = GroupQuery::kPast + which,
                    .turns = which == 0 && g_.half > 0};
      launches.all.push_back(launch(target));
    }
    if (g_.half == 0) return launches;
    launches.all.push_back(
        launch({.to = workspace_pointer(), .fresh = g_.q, .heads = g_.heads, .rows = g_.length, .turns = true}));
    launches.workspace_bytes = make_desc(g_.dtype, {g_.batch, g_.length, g_.heads, g_.size}).size_bytes();
    return launches;
  }

 private:
  struct Target {
    Pointer to;
    GroupQuery::Fresh fresh;
    int64_t heads = 1, rows = 1;
    bool is_cache = false;  // [batch, heads, rows, size], otherwise [batch, rows, heads, size]
    size_t past = 0;        // input
    bool turns = false;
  };

  Pointer input_or_other(size_t input) const {
    return input_pointer(input < layer_.inputs.size() && layer_.inputs[input].exists() ? input : 0);
  }

  Launch launch(const Target& target) const {
    constexpr unsigned kThreads = 256;
    const int64_t elements = g_.batch * target.heads * target.rows * g_.size;
    KernelWriter writer;
    writer.type("T", g_.dtype);
    writer.pointer("kTo", "T", target.to);
    writer.pointer("kFrom", "const T", input_pointer(target.fresh.input));
    writer.pointer("kPast", "const T", input_or_other(target.past));
    writer.pointer("kCosines", "const T", input_or_other(GroupQuery::kCosines));
    writer.pointer("kSines", "const T", input_or_other(GroupQuery::kSines));
    writer.pointer("kLast", "const int", input_pointer(GroupQuery::kLast));
    writer.pointer("kFault", "int", fixed_pointer({programs_.card().fault()}));
    writer.number("kElements", elements);
    writer.divisor("kSize", g_.size);
    writer.divisor("kHeads", target.heads);
    writer.divisor("kRows", target.rows);
    writer.number("kRoom", g_.room);
    writer.number("kLength", g_.length);
    writer.number("kPresent", g_.present);
    writer.number("kColumns", target.fresh.columns);
    writer.number("kFirst", target.fresh.first);
    writer.number("kHalf", g_.half);
    writer.number("kAngles", g_.angles);
    writer.constant("kIsCache", target.is_cache ? 1 : 0);
    writer.constant("kTurns", target.turns ? 1 : 0);
    writer.constant("kInterleaves", g_.interleaves ? 1 : 0);
    writer.constant("kIsPrompt", g_.is_prompt ? 1 : 0);
    return writer.finish(programs_, kThreads, blocks_for(elements, kThreads), group_query_text());
  }

  Programs& programs_;
  const Layer& layer_;
  const GroupQuery& g_;
};

// The attention of a layer, or that of a GroupQueryAttention behind the launches that make its caches. Nullopt: another
// layer, or one that no kernel of this family takes.
std::optional<AttentionGeometry> known_geometry(const Layer& layer) {
  std::optional<AttentionGeometry> g;
  if (const auto* const query = form_as<GroupQuery>(layer)) {
    const bool is_small = std::ranges::all_of(
        layer.outputs, [](const TensorDesc& desc) { return !desc.exists() || desc.count() < kMostNumbers; });
    if (layer.lies_plainly() && is_short_float(query->dtype) && is_small) g = group_query_geometry(*query);
  } else {
    g = attention_geometry(layer);
  }
  return g && is_known(layer, *g) ? std::move(g) : std::nullopt;
}

// Launches by kernels of this writer; none: it does not take the layer.
template <typename Writer>
Launches attention_launches(Programs& programs, const Layer& layer, std::string_view variant) {
  const std::optional<AttentionGeometry> g = known_geometry(layer);
  if (!g) return {};
  Writer writer(layer, *g);
  if (!writer.suits()) return {};
  const auto* const query = form_as<GroupQuery>(layer);
  if (query == nullptr) return writer.write(programs, variant);
  if (query->half > 0) writer.take_queries(workspace_pointer());
  Launches launches = GroupQueryWriter(programs, layer, *query).write();
  Launches attention = writer.write(programs, variant, launches.workspace_bytes);
  if (attention.all.empty()) return {};
  std::ranges::move(attention.all, std::back_inserter(launches.all));
  launches.workspace_bytes = attention.workspace_bytes;
  launches.counter_bytes = attention.counter_bytes;
  return launches;
}

class AttentionStep final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "attention.step"; }
  std::vector<std::string> variants(const Layer& layer) const override {
    std::vector<std::string> names;
    const std::optional<AttentionGeometry> g = known_geometry(layer);
    if (!g) return names;
    const AttentionStepWriter writer(layer, *g);
    if (!writer.suits()) return names;
    for (const StepShape& shape : writer.shapes(programs().card())) names.push_back(shape.name());
    return names;
  }
  bool yields(const Layer& layer) const override {
    const std::optional<AttentionGeometry> g = known_geometry(layer);
    return g && AttentionStepWriter(layer, *g).has_idle_warps(programs().card());
  }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view variant) const override {
    Launches launches = attention_launches<AttentionStepWriter>(programs(), layer, variant);
    return launches.all.empty() ? nullptr : make_kernel(std::move(launches));
  }
};

class Attention final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "attention.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view variant) const override {
    Launches launches = attention_launches<AttentionWriter>(programs(), layer, variant);
    return launches.all.empty() ? nullptr : make_kernel(std::move(launches));
  }
};

}  // namespace

KernelFamily cuda_kernel_attention() { return family_of<AttentionTiles, AttentionStep, Attention>(); }

}  // namespace assay::engine::cuda
