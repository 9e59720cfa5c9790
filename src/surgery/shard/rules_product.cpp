#include <array>

#include "surgery/shard/rules.h"

namespace assay::surgery {
namespace {

using ir::NodeId;
using ir::ValueId;

int64_t size_of(const Region& region, NodeId node, uint32_t index, int64_t dim) {
  const std::optional<int64_t> size = region.facts().dim(region.facts().operand(node, index), dim);
  if (!size) refuse(region, node, "has weights of unknown shape");
  return *size;
}

// With constant weights a split by columns. Products of two computed values are split along dims that they are
// repeated over.
void follow_matmul(Region& region, NodeId node, uint32_t, const Split& split) {
  const ShapeFacts& facts = region.facts();
  const ValueId weights = facts.operand(node, 1);
  if (!facts.is_weight(weights)) {
    if (split.dim < 3) refuse(region, node, "multiplies two computed values");
    region.need_broadcast(node, 0, split);
    return region.need_broadcast(node, 1, split);
  }
  if (split.dim != 1 || facts.rank(weights).value_or(0) < 2) refuse(region, node, "has no columns that can be split");
  region.need(node, 1, split);
  region.note_columns(node);
}

bool is_transposed(const Region& region, NodeId node, std::string_view name) {
  return region.facts().attributes(node).integer(name, 0) != 0;
}

void follow_gemm(Region& region, NodeId node, uint32_t, const Split& split) {
  if (split.dim != 1 || !region.facts().is_weight(region.facts().operand(node, 1))) {
    refuse(region, node, "has no columns that can be split");
  }
  Split columns = split;
  columns.dim = is_transposed(region, node, "transB") ? 2 : 1;
  region.need(node, 1, columns);
  if (region.facts().operand(node, 2)) region.need_broadcast(node, 2, split);
  region.note_columns(node);
}

// Scales and zero points are numbers, or vary along an axis, or are those of blocks along it.
void need_parameter(Region& region, NodeId node, uint32_t index, const Split& split) {
  const ShapeFacts& facts = region.facts();
  const ValueId value = facts.operand(node, index);
  if (!value) return;
  const std::optional<int64_t> rank = facts.rank(value);
  if (!rank) refuse(region, node, "has scales of unknown shape");
  if (*rank == 0 || (*rank == 1 && facts.dim(value, 1) == 1)) return;
  const ops::Node attributes = facts.attributes(node);
  const int64_t axis = facts.axis_from_end(node, attributes.integer("axis", 1));
  const int64_t block = attributes.integer("block_size", 0);
  if (block == 0) {
    if (axis == split.dim) region.need(node, index, {.dim = 1, .extent = split.extent});
    return;
  }
  if (axis != split.dim) return region.need(node, index, split);
  if (block < 0 || split.extent / region.ranks() % block != 0) {
    refuse(region, node, fmt::format("has blocks of {} that would be cut", block));
  }
  region.need(node, index, {.dim = split.dim, .extent = split.extent / block});
}

void follow_quantization(Region& region, NodeId node, uint32_t, const Split& split) {
  region.need(node, 0, split);
  need_parameter(region, node, 1, split);
  need_parameter(region, node, 2, split);
}

constexpr uint32_t kScales = 2;
constexpr uint32_t kZeroPoints = 3;
constexpr uint32_t kGroupIndex = 4;
constexpr uint32_t kBias = 5;

// The rows of what MatMulNBits stores are the columns of the product: in each operand they come first.
void follow_blocks(Region& region, NodeId node, uint32_t, const Split& split) {
  const ShapeFacts& facts = region.facts();
  if (split.dim != 1 || facts.attributes(node).integer("N") != split.extent) {
    refuse(region, node, "has no columns that can be split");
  }
  for (uint32_t index = 1; index <= kZeroPoints; ++index) {
    const ValueId value = facts.operand(node, index);
    if (!value) continue;
    const int64_t rank = facts.rank(value).value_or(0);
    const int64_t size = rank == 1 ? size_of(region, node, index, 1) : split.extent;
    if (rank < 1 || size % split.extent != 0) refuse(region, node, "has weights of unknown shape");
    region.need(node, index, {.dim = rank, .extent = size});
  }
  if (facts.operand(node, kBias)) region.need(node, kBias, split);
  region.divide(node, "N");
  region.note_columns(node);
}

void need_rows_of_blocks(Region& region, NodeId node) {
  const ShapeFacts& facts = region.facts();
  const ops::Node attributes = facts.attributes(node);
  const int64_t inner = attributes.integer("K");
  const int64_t rows = attributes.integer("N");
  const int64_t block = attributes.integer("block_size");
  const int64_t blocks = size_of(region, node, 1, 2);
  const bool is_cut = block <= 0 || rows <= 0 || inner % region.ranks() != 0 || inner / region.ranks() % block != 0;
  if (is_cut || blocks != inner / block) refuse(region, node, "has blocks that would be cut");
  if (facts.operand(node, kGroupIndex)) refuse(region, node, "has blocks in an order of its own");
  region.need(node, 0, {.dim = 1, .extent = inner});
  region.need(node, 1, {.dim = 2, .extent = blocks});
  for (const uint32_t index : {kScales, kZeroPoints}) {
    const ValueId value = facts.operand(node, index);
    if (!value) continue;
    const bool is_flat = facts.rank(value) == 1;
    const int64_t extent = is_flat ? size_of(region, node, index, 1) / rows : size_of(region, node, index, 1);
    if (extent != blocks && extent * 8 != blocks * attributes.integer("bits", 4)) {
      refuse(region, node, "has scales or zero points that would be cut");
    }
    const int64_t groups = is_flat ? rows : 1;
    region.need(node, index, {.dim = 1, .extent = extent * groups, .groups = groups});
  }
  if (facts.operand(node, kBias)) region.keep_bias(kBias);
  region.divide(node, "K");
}

void need_rows_of_gemm(Region& region, NodeId node) {
  const ops::Node attributes = region.facts().attributes(node);
  const int64_t dim = is_transposed(region, node, "transB") ? 1 : 2;
  const int64_t inner = size_of(region, node, 1, dim);
  if (is_transposed(region, node, "transA")) refuse(region, node, "transposes its first operand");
  if (region.facts().operand(node, 2)) {
    if (attributes.floating("beta", 1) != 1) refuse(region, node, "scales its bias");
    region.keep_bias(2);
  }
  region.need(node, 0, {.dim = 1, .extent = inner});
  region.need(node, 1, {.dim = dim, .extent = inner});
}

constexpr std::array<SplitRule, 7> kRules = {{{"MatMul", "", follow_matmul, true},
                                              {"Gemm", "", follow_gemm, true},
                                              {"MatMulNBits", "com.microsoft", follow_blocks},
                                              {"DequantizeLinear", "", follow_quantization},
                                              {"QuantizeLinear", "", follow_quantization},
                                              {"DequantizeLinear", "com.microsoft", follow_quantization},
                                              {"QuantizeLinear", "com.microsoft", follow_quantization}}};

}  // namespace

std::span<const SplitRule> product_rules() { return kRules; }

bool is_root(const ShapeFacts& facts, NodeId node) {
  const std::string_view op = facts.op(node);
  const bool is_product = (op == "MatMul" || op == "Gemm") && facts.domain(node).empty();
  const bool has_blocks = op == "MatMulNBits" && facts.domain(node) == "com.microsoft";
  const ir::Node& node_facts = facts.model()[node];
  const bool has_result = !node_facts.results.empty() && node_facts.results[0];
  return (is_product || has_blocks) && has_result && facts.is_weight(facts.operand(node, 1));
}

void need_rows(Region& region, NodeId root) {
  const std::string_view op = region.facts().op(root);
  if (op == "Gemm") return need_rows_of_gemm(region, root);
  if (op == "MatMulNBits") return need_rows_of_blocks(region, root);
  if (region.facts().rank(region.facts().operand(root, 1)) != 2) refuse(region, root, "has weights that are no matrix");
  const int64_t inner = size_of(region, root, 1, 2);
  region.need(root, 0, {.dim = 1, .extent = inner});
  region.need(root, 1, {.dim = 2, .extent = inner});
}

}  // namespace assay::surgery
