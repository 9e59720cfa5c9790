#include <array>
#include <numeric>

#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

// The value with its last two dimensions swapped, if `is_swapped`.
ir::ValueId operand(Site& site, size_t index, bool is_swapped) {
  if (!is_swapped) return site.input(index);
  Ints order(site.rank(site.input(index)));
  if (order.size() < 2) fail(ErrorCode::parse, "an operand has less than two dimensions");
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return site.weights(index, order);
}

void make_matmul(Site& site) {
  const ir::ValueId a = operand(site, 0, site.attribute("transpose_a", 0) != 0);
  const ir::ValueId b = operand(site, 1, site.attribute("transpose_b", 0) != 0);
  site.give(0, site.add("MatMul", {a, b}));
}

void make_batch_matmul(Site& site) {
  const ir::ValueId a = operand(site, 0, site.attribute("adj_x", 0) != 0);
  const ir::ValueId b = operand(site, 1, site.attribute("adj_y", 0) != 0);
  site.give(0, site.add("MatMul", {a, b}));
}

// Rows of weights are outputs. Dimensions before the last are rows of one matrix, unless they are to be kept.
void make_fully_connected(Site& site) {
  if (site.attribute("weights_format", 0) != 0) site.refuse("its shuffled weights are not imported");
  ir::ValueId x = site.input(0);
  const std::optional<Sizes> sizes = site.build().sizes(site.input(1));
  if (!sizes || sizes->size() != 2) site.refuse("its weights are no matrix of known sizes");
  const std::optional<size_t> rank = site.build().rank(x);
  const bool is_kept = site.attribute("keep_num_dims", 0) != 0;
  if (!is_kept && rank != size_t{2}) {
    if (!(*sizes)[1]) site.refuse("the shape of its weights is not known");
    x = site.build().reshape(x, {-1, *(*sizes)[1]});
  }
  const bool is_matrix = !is_kept || rank == size_t{2};
  Values operands = {x, is_matrix ? site.input(1) : site.weights(1, {1, 0})};
  if (is_matrix) {
    if (site.has(2)) operands.push_back(site.input(2));
    return site.give(0, site.activated(site.add("Gemm", operands, {{"transB", int64_t{1}}})));
  }
  ir::ValueId product = site.add("MatMul", operands);
  if (site.has(2)) product = site.add("Add", {product, site.input(2)});
  site.give(0, site.activated(product));
}

void make_einsum(Site& site) {
  site.give(0, site.add("Einsum", site.inputs(), {{"equation", site.text("equation", "")}}));
}

constexpr std::array kMatrixRows = {
    Maker{"BatchMatMul", "BATCH_MATMUL", make_batch_matmul}, Maker{"BatchMatMulV2", "", make_batch_matmul},
    Maker{"BatchMatMulV3", "", make_batch_matmul},           Maker{"Einsum", "", make_einsum},
    Maker{"", "FULLY_CONNECTED", make_fully_connected},      Maker{"MatMul", "", make_matmul},
};

}  // namespace

Makers matrix_makers() { return kMatrixRows; }

}  // namespace assay::tensorflow
