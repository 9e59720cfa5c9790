// Attention and rotary positions.
#include <cmath>
#include <limits>

#include "passes/opset/expansions.h"

namespace assay::passes {
namespace {

using tensor::DType;

constexpr size_t kMask = 3;                       // an input of Attention
constexpr int64_t kHeadsSecond[] = {0, 2, 1, 3};  // [batch, heads, sequence, width] for [batch, sequence, heads, width]

std::optional<int64_t> known_dim(const Draft& draft, size_t input, size_t dim) {
  const ops::Type type = draft.type(input);
  if (!type.is_tensor() || !type.dims || dim >= type.dims->size()) return std::nullopt;
  return (*type.dims)[dim].number();
}

DraftValue turned(Spelling& spelling, DraftValue x) {
  return spelling.add(
      "Transpose", {x},
      {spelling.attribute("perm", std::vector<int64_t>(std::begin(kHeadsSecond), std::end(kHeadsSecond)))});
}

// Elements [begin, end) of the last dim, every `step`th.
DraftValue part(Spelling& spelling, DraftValue x, int64_t begin, int64_t end, int64_t step = 1) {
  return spelling.add("Slice", {x, spelling.integers({begin}), spelling.integers({end}), spelling.integers({-1}),
                                spelling.integers({step})});
}

// [batch, heads, sequence, width] of an input that may have the heads within its last dim.
DraftValue with_heads(Spelling& spelling, DraftValue x, int64_t rank, int64_t heads) {
  constexpr int64_t kWhole = 4;
  if (rank == kWhole) return x;
  return turned(spelling, spelling.add("Reshape", {x, spelling.integers({0, 0, heads, -1})}));
}

struct Heads {
  int64_t rank = 0, queries = 0, keys = 0, width = 0;
};

std::optional<Heads> heads_of(const Draft& draft) {
  const std::optional<int64_t> rank = draft.rank(0);
  if (!rank) return std::nullopt;
  Heads heads{*rank, draft.integer("q_num_heads", 0), draft.integer("kv_num_heads", 0), 0};
  const std::optional<int64_t> last = known_dim(draft, 0, static_cast<size_t>(*rank) - 1);
  if (*rank == 4) {
    const std::optional<int64_t> queries = known_dim(draft, 0, 1), keys = known_dim(draft, 1, 1);
    if (!queries || !keys || !last) return std::nullopt;
    heads.queries = *queries;
    heads.keys = *keys;
    heads.width = *last;
  } else if (heads.queries > 0 && last) {
    heads.width = *last / heads.queries;
  }
  const bool is_known = heads.width > 0 && heads.queries > 0 && heads.keys > 0 && heads.queries % heads.keys == 0;
  return is_known ? std::optional(heads) : std::nullopt;
}

// Each head of keys or values, as often as queries share it.
DraftValue shared(Spelling& spelling, DraftValue x, const Heads& heads, int64_t width) {
  const int64_t times = heads.queries / heads.keys;
  if (times == 1) return x;
  const DraftValue column = spelling.add("Reshape", {x, spelling.integers({0, heads.keys, 1, -1, width})});
  const DraftValue repeated = spelling.add("Expand", {column, spelling.integers({1, 1, times, 1, 1})});
  return spelling.add("Reshape", {repeated, spelling.integers({0, heads.queries, -1, width})});
}

Refusal find_refusal(const Draft& draft) {
  constexpr size_t kPast = 4;
  for (size_t input = kPast; input < draft.operands().size(); ++input) {
    if (draft.has(input)) return "it has a past, or lengths, which are not spelled out";
  }
  if (draft.floating("softcap", 0) != 0) return "its scores are capped, which is not spelled out";
  constexpr int64_t kWhereOfBfloat16 = 16;
  if (draft.dtype(0) == DType::bfloat16 && draft.target() < kWhereOfBfloat16) {
    return "the Where of that version does not take bfloat16";
  }
  if (draft.find("softmax_precision")) return "its softmax has a type of its own";
  for (const std::string_view name : {"left_window_size", "right_window_size", "qk_matmul_output_mode"}) {
    if (draft.find(name) && draft.integer(name, -1) > 0) return "it has a window or an output of scores";
  }
  return {};
}

// Scores with minus infinity for keys that lie behind their query.
Refusal add_causal_mask(Draft& draft, Spelling& spelling, const Heads& heads, DraftValue& scores) {
  const size_t place = heads.rank == 4 ? 2 : 1;
  const std::optional<int64_t> rows = known_dim(draft, 0, place), columns = known_dim(draft, 1, place);
  constexpr int64_t kMost = int64_t{1} << 26;
  if (!rows || !columns || *rows * *columns > kMost) return "its lengths are not known, which a causal mask needs";
  std::vector<double> mask(static_cast<size_t>(*rows * *columns));
  for (int64_t row = 0; row < *rows; ++row) {
    for (int64_t column = row + 1; column < *columns; ++column) {
      mask[static_cast<size_t>(row * *columns + column)] = -std::numeric_limits<double>::infinity();
    }
  }
  scores = spelling.add(
      "Add", {scores, draft.add_constant(ops::make_rounded(spelling.dtype(), {*rows, *columns}, std::move(mask)))});
  return {};
}

DraftValue masked(const Draft& draft, Spelling& spelling, DraftValue scores) {
  if (!draft.has(kMask)) return scores;
  DraftValue mask = spelling.operand(kMask);
  if (draft.dtype(kMask) == DType::boolean) {
    mask = spelling.add("Where", {mask, spelling.number(0), spelling.number(-std::numeric_limits<double>::infinity())});
  }
  return spelling.add("Add", {scores, mask});
}

// Rows that see nothing have no shares.
DraftValue shares_of(Draft& draft, Spelling& spelling, DraftValue scores) {
  const DraftValue shares = spelling.add("Softmax", {scores}, {spelling.attribute("axis", int64_t{-1})});
  if (!draft.has(kMask) && draft.integer("is_causal", 0) == 0) return shares;
  const DraftValue nothing = spelling.number(-std::numeric_limits<double>::infinity()), zero = spelling.number(0);
  const DraftValue largest = spelling.reduce("ReduceMax", scores, {-1});
  const DraftValue is_blind = draft.add({.op = "Equal", .operands = {largest, nothing}, .dtype = DType::boolean});
  return spelling.add("Where", {is_blind, zero, shares});
}

Refusal spell_attention(Draft& draft) {
  Spelling spelling(draft);
  if (Refusal obstacle = spelling.find_obstacle(); !obstacle.empty()) return obstacle;
  if (Refusal refusal = find_refusal(draft); !refusal.empty()) return refusal;
  const std::optional<Heads> heads = heads_of(draft);
  if (!heads) return "its heads and their width are not known";
  const std::optional<int64_t> last = known_dim(draft, 2, static_cast<size_t>(heads->rank) - 1);
  if (!last) return "the width of its values is not known";
  const int64_t value_width = heads->rank == 4 ? *last : *last / heads->keys;
  const double scale = draft.floating("scale", static_cast<float>(1 / std::sqrt(static_cast<double>(heads->width))));
  const auto scaled = [&](DraftValue x) { return spelling.add("Mul", {x, spelling.number(std::sqrt(scale))}); };
  const DraftValue q = with_heads(spelling, spelling.operand(0), heads->rank, heads->queries);
  const DraftValue k = with_heads(spelling, spelling.operand(1), heads->rank, heads->keys);
  const DraftValue v = with_heads(spelling, spelling.operand(2), heads->rank, heads->keys);
  const DraftValue keys = spelling.add("Transpose", {scaled(shared(spelling, k, *heads, heads->width))},
                                       {spelling.attribute("perm", std::vector<int64_t>{0, 1, 3, 2})});
  DraftValue scores = masked(draft, spelling, spelling.add("MatMul", {scaled(q), keys}));
  if (draft.integer("is_causal", 0) != 0) {
    if (Refusal refusal = add_causal_mask(draft, spelling, *heads, scores); !refusal.empty()) return refusal;
  }
  const DraftValue shares = shares_of(draft, spelling, scores);
  const DraftValue values = shared(spelling, v, *heads, value_width);
  if (heads->rank == 4) {
    spelling.finish("MatMul", {shares, values});
    return {};
  }
  const DraftValue made = turned(spelling, spelling.add("MatMul", {shares, values}));
  spelling.finish("Reshape", {made, spelling.integers({0, 0, -1})});
  return {};
}

// Cosines or sines as [batch, sequence, 1, half].
DraftValue angles(const Draft& draft, Spelling& spelling, size_t cache) {
  constexpr size_t kPositions = 3;
  DraftValue table = spelling.operand(cache);
  if (draft.has(kPositions)) table = spelling.add("Gather", {table, spelling.operand(kPositions)});
  return spelling.add("Reshape", {table, spelling.integers({0, 0, 1, -1})});
}

// The pairs of [batch, sequence, heads, 2 * half], turned by their angles.
DraftValue rotated(const Draft& draft, Spelling& spelling, DraftValue x, int64_t half) {
  const bool are_neighbours = draft.integer("interleaved", 0) != 0;
  const DraftValue cosines = angles(draft, spelling, 1), sines = angles(draft, spelling, 2);
  const DraftValue first = are_neighbours ? part(spelling, x, 0, 2 * half, 2) : part(spelling, x, 0, half);
  const DraftValue second = are_neighbours ? part(spelling, x, 1, 2 * half, 2) : part(spelling, x, half, 2 * half);
  const auto product = [&](DraftValue a, DraftValue b) { return spelling.add("Mul", {a, b}); };
  DraftValue real = spelling.add("Sub", {product(cosines, first), product(sines, second)});
  DraftValue imaginary = spelling.add("Add", {product(sines, first), product(cosines, second)});
  const ir::Attribute last = spelling.attribute("axis", int64_t{-1});
  if (!are_neighbours) return spelling.add("Concat", {real, imaginary}, {last});
  const auto column = [&](DraftValue value) {
    return spelling.add("Reshape", {value, spelling.integers({0, 0, 0, half, 1})});
  };
  const DraftValue pairs = spelling.add("Concat", {column(real), column(imaginary)}, {last});
  return spelling.add("Reshape", {pairs, spelling.integers({0, 0, 0, -1})});
}

Refusal spell_rotary(Draft& draft) {
  Spelling spelling(draft);
  if (Refusal obstacle = spelling.find_obstacle(); !obstacle.empty()) return obstacle;
  const std::optional<int64_t> rank = draft.rank(0);
  const std::optional<int64_t> last = rank ? known_dim(draft, 0, static_cast<size_t>(*rank) - 1) : std::nullopt;
  const int64_t heads = draft.integer("num_heads", 0);
  const bool is_whole = rank == 4;
  if (!last || (!is_whole && heads < 1)) return "its heads and their width are not known";
  const int64_t width = is_whole ? *last : *last / heads;
  const int64_t given = draft.integer("rotary_embedding_dim", 0), turned_width = given == 0 ? width : given;
  const DraftValue input = spelling.operand(0);
  const DraftValue x =
      is_whole ? turned(spelling, input) : spelling.add("Reshape", {input, spelling.integers({0, 0, heads, -1})});
  DraftValue made =
      rotated(draft, spelling, turned_width == width ? x : part(spelling, x, 0, turned_width), turned_width / 2);
  if (turned_width != width) {
    made = spelling.add("Concat", {made, part(spelling, x, turned_width, width)},
                        {spelling.attribute("axis", int64_t{-1})});
  }
  if (is_whole) {
    spelling.finish(
        "Transpose", {made},
        {spelling.attribute("perm", std::vector<int64_t>(std::begin(kHeadsSecond), std::end(kHeadsSecond)))});
  } else {
    spelling.finish("Reshape", {made, spelling.integers({0, 0, -1})});
  }
  return {};
}

}  // namespace

std::span<const Expansion> attention_expansions() {
  static constexpr Expansion kRows[] = {{"Attention", spell_attention}, {"RotaryEmbedding", spell_rotary}};
  return kRows;
}

}  // namespace assay::passes
