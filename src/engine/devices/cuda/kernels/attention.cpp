// Attention, written out in operators or as the operator: a warp a query.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "engine/devices/cuda/generate/element_kernel.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/layers/attention_geometry.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kPackedKeys = 4;  // elements of a key that are read at once
constexpr int64_t kMostNumbers = std::numeric_limits<int32_t>::max();

// An operand under the names that attention.cu has for it.
struct Named {
  std::string_view name, type, place;
  const Matrices& matrices;
};

class AttentionWriter {
 public:
  AttentionWriter(const Layer& layer, const AttentionGeometry& g) : layer_(layer), g_(g) {}

  // A warp a query.
  Launches write(Programs& programs) {
    const unsigned shared = static_cast<unsigned>(programs.card().shared_bytes());
    const auto bytes = static_cast<unsigned>(g_.keys) * static_cast<unsigned>(sizeof(float));
    unsigned warps = 4;
    while (warps > 1 && warps * bytes > shared / 2) warps /= 2;
    Launches launches;
    if (bytes * warps > shared) return launches;
    writer_.launch().shared_bytes = bytes * warps;
    for (const Named& named : operands()) add(named);
    add_numbers();
    writer_.divisor("kRows", g_.rows);
    writer_.number("kDepth", g_.depth);
    writer_.number("kWidth", g_.width);
    writer_.number("kPastKeys", g_.k_cache.past.exist() ? g_.k_cache.past_rows : 0);
    writer_.constant("kPack", g_.depth % kPackedKeys == 0 ? kPackedKeys : 1);
    writer_.text(places_text());
    const int64_t queries = items() * g_.rows;
    writer_.number("kQueries", queries);
    launches.all.push_back(writer_.finish(programs, warps * 32, (queries + warps - 1) / warps, attention_text()));
    keep(programs, g_.k_cache, g_.k, g_.depth, launches);
    keep(programs, g_.v_cache, g_.v, g_.width, launches);
    return launches;
  }

  // Queries and keys in tiles, on tensor cores.
  Launches write_tiles(Programs& programs) {
    constexpr int64_t kWarps = 4, kWarpRows = 16, kKeyTile = 64, kPad = 8;
    const auto tiles_of = [&](int64_t queries) { return (g_.rows + queries - 1) / queries; };
    const bool is_large = items() * tiles_of(kWarps * kWarpRows) >= programs.card().multiprocessors();
    const int64_t query_warps = is_large ? kWarps : 1;
    const int64_t queries = query_warps * kWarpRows;
    const int64_t elements = (queries + 2 * kKeyTile) * (g_.depth + kPad) + 2 * kKeyTile * (g_.width + kPad);
    const int64_t joined = kWarps * kWarpRows * (g_.width + 2) * int64_t{sizeof(float)};
    writer_.launch().shared_bytes = static_cast<unsigned>(std::max(elements * int64_t{sizeof(uint16_t)}, joined));
    for (const Named& named : operands()) add(named);
    writer_.text("typedef K T;\n");
    add_numbers();
    writer_.number("kRows", g_.rows);
    writer_.constant("kDepth", g_.depth);
    writer_.constant("kWidth", g_.width);
    writer_.constant("kQueryWarps", query_warps);
    writer_.constant("kKeyWarps", kWarps / query_warps);
    writer_.divisor("kTiles", tiles_of(queries));
    writer_.text(places_text());
    Launches launches;
    launches.all.push_back(writer_.finish(programs, kWarps * 32, items() * tiles_of(queries), attention_tiles_text()));
    keep(programs, g_.k_cache, g_.k, g_.depth, launches);
    keep(programs, g_.v_cache, g_.v, g_.width, launches);
    return launches;
  }

 private:
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
                    is_written ? output_pointer(0) : pointer_of(named.matrices));
    writer_.number(fmt::format("k{}Row", named.name), named.matrices.row);
    writer_.number(fmt::format("k{}Column", named.name), named.matrices.column);
  }

  void add_numbers() {
    writer_.number("kKeys", g_.keys);
    writer_.number("kPast", g_.past);
    writer_.real("kScaleBy", g_.scale);
    writer_.real("kHidden", g_.hidden);
    writer_.constant("kDivides", g_.divides ? 1 : 0);
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

  // `places_of`: the begin of the matrices of an item.
  std::string places_text() {
    std::string fields = "struct Places {\n",
                body = "DEVICE Places places_of(const Params& p, uint32 rest) {\n  Places at;\n";
    for (const Named& named : operands()) {
      fields += fmt::format("  int64 {};\n", named.place);
      body += fmt::format("  at.{} = 0;\n", named.place);
    }
    for (size_t dim = g_.items.size(); dim-- > 0;) {
      const size_t divisor = writer_.launch().numbers.size();
      writer_.launch().add_divisor(g_.items[dim]);
      body += fmt::format(
          "  {{\n    const uint32 q = quotient(rest, DIVISOR({0}));\n    const int64 i = rest - q * (uint32)p.n[{0}];\n"
          "    rest = q;\n",
          divisor);
      for (const Named& named : operands()) {
        const std::vector<int64_t>& strides = named.matrices.items;
        if (!named.matrices.exist() || strides.size() <= dim || strides[dim] == 0) continue;
        body += fmt::format("    at.{} += i * p.n[{}];\n", named.place, writer_.launch().numbers.size());
        writer_.launch().add(strides[dim]);
      }
      body += "  }\n";
    }
    return fields + "};\n" + body + "  return at;\n}\n";
  }

  // Copies the past and what is new behind it into the result that keeps both.
  void keep(Programs& programs, const AttentionCache& cache, const Matrices& added, int64_t width,
            Launches& launches) const {
    if (!cache.kept.exist()) return;
    const int64_t past = cache.past.exist() ? cache.past_rows : 0;
    const ElementText copy{.inputs = {0}, .statements = "    const float made = x0;\n", .numbers = {}};
    const auto add_copy = [&](const Matrices& from, int64_t rows, int64_t first) {
      if (!from.exist() || rows == 0) return;
      const TensorDesc source = stacked(from, rows, width), target = stacked(cache.kept, rows, width);
      Pointer to = pointer_of(cache.kept);
      to.offset = first * cache.kept.row * tensor::bit_width(target.dtype) / 8;
      std::optional<Launch> launch = element_launch(programs, copy, {{pointer_of(from), source}}, {to, target});
      if (launch) launches.all.push_back(std::move(*launch));
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
  KernelWriter writer_;
};

bool is_known(const Layer& layer, const AttentionGeometry& g) {
  int64_t queries = g.rows;
  for (const int64_t dim : g.items) queries *= dim;
  for (const Matrices* const each : {&g.q, &g.k, &g.v, &g.mask, &g.k_cache.past, &g.v_cache.past}) {
    if (each->exist() && !is_short_float(layer.inputs[static_cast<size_t>(each->input)].dtype)) return false;
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
    return make_kernel(AttentionWriter(layer, *g).write_tiles(programs()));
  }

 private:
  static bool suits(const Layer& layer, const AttentionGeometry& g) {
    constexpr int64_t kLeastRows = 8, kMostDepth = 128, kStep = 16;
    const tensor::DType type = layer.inputs[static_cast<size_t>(g.q.input)].dtype;
    const auto is_alike = [&](const Matrices& each) {
      return layer.inputs[static_cast<size_t>(each.input)].dtype == type && each.column == 1 && each.row <= kMostNumbers;
    };
    const auto has_steps = [](int64_t size) { return size % kStep == 0 && size <= kMostDepth; };
    return type != tensor::DType::float32 && is_alike(g.q) && is_alike(g.k) && is_alike(g.v) && g.out.column == 1 &&
           g.rows >= kLeastRows && has_steps(g.depth) && has_steps(g.width) && !g.k_cache.past.exist();
  }
};

class Attention final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "attention.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<AttentionGeometry> g = attention_geometry(layer);
    if (!g || !is_known(layer, *g)) return {};
    Launches launches = AttentionWriter(layer, *g).write(programs());
    return launches.all.empty() ? nullptr : make_kernel(std::move(launches));
  }

};

}  // namespace

KernelFamily cuda_kernel_attention() { return family_of<AttentionTiles, Attention>(); }

}  // namespace assay::engine::cuda
