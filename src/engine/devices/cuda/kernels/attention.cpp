// Attention, written out in operators or as the operator.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "engine/devices/cuda/generate/element_kernel.h"
#include "engine/devices/cuda/generate/item_places.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kMostNumbers = std::numeric_limits<int32_t>::max();

// An operand under the names that attention.cu has for it.
struct Named {
  std::string_view name, type, place;
  const Matrices& matrices;
};

class AttentionWriter {
 public:
  AttentionWriter(const Layer& layer, const AttentionGeometry& g) : layer_(layer), g_(g), q_(pointer_of(g.q)) {}
  // Queries lie there, in the type of the operand.
  void take_queries(const Pointer& from) { q_ = from; }

  // A warp a query, or a block where there are few and each sees many keys.
  Launches write(Programs& programs) {
    constexpr int64_t kWarpLanes = 32, kManyWarps = 8, kManyKeys = 64;
    const int64_t queries = items() * g_.rows;
    const bool is_block = queries <= programs.card().multiprocessors() && g_.keys >= kManyKeys;
    const int64_t lanes = is_block ? kManyWarps * kWarpLanes : kWarpLanes;
    const int64_t value_pack = packed(g_.width, {&g_.v, &g_.v_cache.past}), packs = g_.width / value_pack;
    int64_t warps = is_block ? kManyWarps : 4;
    const auto shared_bytes = [&] {
      const int64_t of_query = g_.keys + std::max<int64_t>(lanes / packs, 1) * g_.width + warps;
      return warps * kWarpLanes / lanes * of_query * int64_t{sizeof(float)};
    };
    const int64_t shared = programs.card().shared_bytes();
    while (!is_block && warps > 1 && shared_bytes() > shared / 2) warps /= 2;
    Launches launches;
    if (shared_bytes() > shared) return launches;
    writer_.launch().shared_bytes = static_cast<unsigned>(shared_bytes());
    for (const Named& named : operands()) add(named);
    add_numbers();
    writer_.divisor("kRows", g_.rows);
    writer_.number("kDepth", g_.depth);
    writer_.number("kWidth", g_.width);
    writer_.number("kPastKeys", g_.k_cache.past.exist() ? g_.k_cache.past_rows : 0);
    const int64_t pack = packed(g_.depth, {&g_.q, &g_.k, &g_.k_cache.past});
    writer_.constant("kPack", pack);
    writer_.constant("kValuePack", value_pack);
    writer_.constant("kLanes", lanes);
    constexpr int64_t kMostKeyLanes = 8;
    writer_.constant("kKeyLanes", std::gcd(g_.depth / pack, kMostKeyLanes));
    add_places();
    writer_.number("kQueries", queries);
    launches.all.push_back(writer_.finish(programs, static_cast<unsigned>(warps * kWarpLanes),
                                          blocks_for(queries, static_cast<unsigned>(warps * kWarpLanes / lanes)),
                                          attention_text()));
    return keeps(programs, launches) ? std::move(launches) : Launches();
  }

  // Queries and keys in tiles, on tensor cores.
  Launches write_tiles(Programs& programs) {
    constexpr int64_t kWarps = 4, kWarpRows = 16, kUsualKeys = 64;
    const tensor::DType type = desc_of(g_.k).dtype;
    const int64_t bytes = tensor::bit_width(type) / 8, pad = 16 / bytes;
    const auto tiles_of = [&](int64_t queries) { return (g_.rows + queries - 1) / queries; };
    const bool is_large = items() * tiles_of(kWarps * kWarpRows) >= programs.card().multiprocessors();
    const int64_t query_warps = is_large ? kWarps : 1;
    const int64_t queries = query_warps * kWarpRows;
    // Few blocks take all keys at once, if these are not too many.
    const bool takes_all = !is_large && g_.keys > kUsualKeys && g_.keys <= 2 * kUsualKeys;
    const int64_t key_tile = takes_all ? 2 * kUsualKeys : kUsualKeys, buffers = g_.keys <= key_tile ? 1 : 2;
    const int64_t elements = (queries + buffers * key_tile) * (g_.depth + pad) + buffers * key_tile * (g_.width + pad);
    const int64_t joined = kWarps * kWarpRows * (g_.width + 4) * int64_t{sizeof(float)};
    const int64_t shared_bytes = std::max(elements * bytes, joined);
    Launches launches;
    if (shared_bytes > programs.card().shared_bytes()) return launches;
    writer_.launch().shared_bytes = static_cast<unsigned>(shared_bytes);
    for (const Named& named : operands()) add(named);
    const bool is_tf32 = type == tensor::DType::float32;
    writer_.text(fmt::format("typedef K T;\ntypedef {} Product;\n", is_tf32 ? "Tf32" : "T"));
    writer_.constant("kIsTf32", is_tf32 ? 1 : 0);
    add_numbers();
    writer_.number("kRows", g_.rows);
    writer_.constant("kDepth", g_.depth);
    writer_.constant("kWidth", g_.width);
    writer_.constant("kQueryWarps", query_warps);
    writer_.constant("kKeyTile", key_tile);
    writer_.constant("kBuffers", buffers);
    writer_.constant("kPad", pad);
    writer_.constant("kKeyWarps", kWarps / query_warps);
    writer_.divisor("kTiles", tiles_of(queries));
    add_places();
    launches.all.push_back(writer_.finish(programs, kWarps * 32, items() * tiles_of(queries), attention_tiles_text()));
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

  void add_places() {
    std::vector<PlacedMatrices> places;
    for (const Named& named : operands()) places.push_back({named.place, named.matrices});
    writer_.text(item_places_text(g_.items, places, writer_.launch()));
  }
  std::array<Named, 9> operands() const {
    return {Named{"Q", "Q", "q", g_.q},
            Named{"K", "K", "k", g_.k},
            Named{"V", "V", "v", g_.v},
            Named{"Mask", "Mask", "mask", g_.mask},
            Named{"Out", "Out", "out", g_.out},
            Named{"Conditions", "Conditions", "conditions", g_.conditions},
            Named{"Last", "Last", "last", g_.last_key},
            Named{"PastK", "PastK", "past_k", g_.k_cache.past},
            Named{"PastV", "PastV", "past_v", g_.v_cache.past}};
  }
  int64_t items() const {
    int64_t count = 1;
    for (const int64_t dim : g_.items) count *= dim;
    return count;
  }
  const TensorDesc& desc_of(const Matrices& matrices) const {
    const auto number = static_cast<size_t>(matrices.input);
    return matrices.is_result ? layer_.outputs[number] : layer_.inputs[number];
  }
  // The type of its elements; where there are none, such as the text can read.
  tensor::DType type_of(const Named& named) const {
    if (named.matrices.exist()) return desc_of(named.matrices).dtype;
    return named.place == "last" ? tensor::DType::int32 : tensor::DType::uint8;
  }
  static Pointer pointer_of(const Matrices& matrices) {
    if (!matrices.exist()) return input_pointer(0);
    const auto number = static_cast<size_t>(matrices.input);
    return matrices.is_result ? output_pointer(number) : input_pointer(number);
  }

  void add(const Named& named) {
    const bool is_written = named.place == "out";
    writer_.type(named.type, is_written ? layer_.outputs[0].dtype : type_of(named));
    writer_.pointer(fmt::format("k{}", named.name), fmt::format("{}{}", is_written ? "" : "const ", named.type),
                    is_written           ? output_pointer(0)
                    : named.place == "q" ? q_
                                         : pointer_of(named.matrices));
    writer_.number(fmt::format("k{}Row", named.name), named.matrices.row);
    writer_.number(fmt::format("k{}Column", named.name), named.matrices.column);
  }

  void add_numbers() {
    writer_.number("kKeys", g_.keys);
    writer_.number("kPast", g_.past);
    // What is divided by a power of two may as well be multiplied.
    constexpr int kMostExponent = 100;
    int exponent = 0;
    const bool is_power = std::frexp(g_.scale, &exponent) == 0.5F && std::abs(exponent) < kMostExponent;
    const bool is_divided = g_.divides && !is_power;
    writer_.real("kScaleBy", g_.divides && !is_divided ? 1 / g_.scale : g_.scale);
    writer_.real("kHidden", g_.hidden);
    writer_.constant("kDivides", is_divided ? 1 : 0);
    writer_.constant("kIsCausal", g_.is_causal ? 1 : 0);
    writer_.constant("kHasMask", g_.mask.exist() ? 1 : 0);
    writer_.constant("kHasConditions", g_.conditions.exist() ? 1 : 0);
    writer_.constant("kHiddenWhere", g_.hidden_where ? 1 : 0);
    writer_.constant("kReplaces", g_.replaces ? 1 : 0);
    writer_.constant("kHasLast", g_.last_key.exist() ? 1 : 0);
    writer_.constant("kEndsWithLast", g_.ends_with_last ? 1 : 0);
    writer_.constant("kZeroesNothing", g_.zeroes_what_sees_none ? 1 : 0);
    writer_.constant("kZeroesNoNumber", g_.zeroes_no_number ? 1 : 0);
  }

  // Copies the pasts, and what is new behind them, into the results that keep both. False: there are too many elements.
  bool keeps(Programs& programs, Launches& launches) const {
    std::vector<ElementResult> copies;
    add_copies(g_.k_cache, g_.k, g_.depth, copies);
    add_copies(g_.v_cache, g_.v, g_.width, copies);
    if (copies.empty()) return true;
    std::optional<Launch> launch = element_launch(programs, copies);
    if (launch) launches.all.push_back(std::move(*launch));
    return launch.has_value();
  }

  void add_copies(const AttentionCache& cache, const Matrices& added, int64_t width,
                  std::vector<ElementResult>& copies) const {
    if (!cache.kept.exist()) return;
    const int64_t past = cache.past.exist() ? cache.past_rows : 0;
    const ElementText copy{.inputs = {0}, .statements = "    const float made = x0;\n", .numbers = {}};
    const auto add_copy = [&](const Matrices& from, int64_t rows, int64_t first) {
      if (!from.exist() || rows == 0) return;
      TensorDesc source = stacked(from, rows, width), target = stacked(cache.kept, rows, width);
      for (size_t i = 0; i < g_.items.size(); ++i) {  // of heads that share a cache, one copies
        if (cache.kept.items[i] == 0) source.dims[i] = target.dims[i] = 1;
      }
      Pointer to = pointer_of(cache.kept);
      to.offset = first * cache.kept.row * tensor::bit_width(target.dtype) / 8;
      copies.push_back({copy, {{pointer_of(from), source}}, {to, target}});
    };
    add_copy(cache.past, past, 0);
    add_copy(added, g_.keys - past, past);
  }

  TensorDesc stacked(const Matrices& matrices, int64_t rows, int64_t width) const {
    TensorDesc desc{desc_of(matrices).dtype, g_.items, matrices.items};
    desc.dims.insert(desc.dims.end(), {rows, width});
    desc.strides.insert(desc.strides.end(), {matrices.row, matrices.column});
    return desc;
  }

  const Layer& layer_;
  const AttentionGeometry& g_;
  Pointer q_;
  KernelWriter writer_;
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

class Attention final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "attention.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (const auto* const query = form_as<GroupQuery>(layer)) return make_group_query(layer, *query);
    const std::optional<AttentionGeometry> g = attention_geometry(layer);
    if (!g || !is_known(layer, *g)) return {};
    Launches launches = AttentionWriter(layer, *g).write(programs());
    return launches.all.empty() ? nullptr : make_kernel(std::move(launches));
  }

 private:
  std::unique_ptr<Kernel> make_group_query(const Layer& layer, const GroupQuery& query) const {
    const AttentionGeometry g = group_query_geometry(query);
    const bool is_small = std::ranges::all_of(
        layer.outputs, [](const TensorDesc& desc) { return !desc.exists() || desc.count() < kMostNumbers; });
    if (!layer.lies_plainly() || !is_short_float(query.dtype) || !is_small || !is_known(layer, g)) return {};
    AttentionWriter writer(layer, g);
    if (query.half > 0) writer.take_queries(workspace_pointer());
    Launches attention = writer.write(programs());
    if (attention.all.empty()) return {};
    Launches launches = GroupQueryWriter(programs(), layer, query).write();
    std::ranges::move(attention.all, std::back_inserter(launches.all));
    return make_kernel(std::move(launches));
  }
};

}  // namespace

KernelFamily cuda_kernel_attention() { return family_of<AttentionTiles, Attention>(); }

}  // namespace assay::engine::cuda
