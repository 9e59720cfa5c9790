// Products of few rows with constant matrices, at the speed at which memory gives these.
#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/panels/panel_kernels.h"
#include "engine/devices/cpu/product_geometry.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/packed_weights.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kMostRows = 8;
constexpr int64_t kColumns = static_cast<int64_t>(kPanel);

// The panels of [depth, columns], one after the other; columns that the last one lacks are zeros.
PackedWeights::Bytes pack_panels(const Layer& layer, const ProductGeometry& g) {
  const tensor::Tensor& weights = *layer.constants[static_cast<size_t>(g.right)];
  const int64_t panels = (g.columns + kColumns - 1) / kColumns;
  const auto size = static_cast<uint64_t>(panels * g.depth * kColumns) * sizeof(float);
  const std::string form = fmt::format("panels {} {} {} {}", g.depth, g.columns, g.right_row, g.right_column);
  return layer.packed->get(weights, form, size, [&](std::byte* bytes) {
    const auto* const from = reinterpret_cast<const float*>(weights.bytes().data());
    auto* const to = reinterpret_cast<float*>(bytes);
    parallel_for(static_cast<uint64_t>(panels), 1, [&](uint64_t begin, uint64_t) {
      const int64_t first = static_cast<int64_t>(begin) * kColumns;
      const int64_t count = std::min(kColumns, g.columns - first);
      float* row = to + first * g.depth;
      for (int64_t k = 0; k < g.depth; ++k, row += kColumns) {
        const float* const source = from + k * g.right_row + first * g.right_column;
        for (int64_t c = 0; c < count; ++c) row[c] = source[c * g.right_column];
        std::fill(row + count, row + kColumns, 0.0F);
      }
    });
  });
}

class SkinnyKernel final : public PlainKernel {
 public:
  SkinnyKernel(const Layer& layer, const ProductGeometry& geometry, Tape tape)
      : g_(geometry), tape_(std::move(tape)), weights_(pack_panels(layer, geometry)) {}

  void run(const Arguments& arguments) const override {
    const auto panels = static_cast<uint64_t>((g_.columns + kColumns - 1) / kColumns);
    const uint64_t panel_bytes = static_cast<uint64_t>(g_.depth) * kPanel * sizeof(float);
    parallel_for(panels, panels_of_piece(panels, panel_bytes), [&](uint64_t begin, uint64_t end) {
      for (auto panel = static_cast<int64_t>(begin); panel < static_cast<int64_t>(end); ++panel) {
        run_panel(arguments, panel * kColumns);
      }
    });
  }

 private:
  void run_panel(const Arguments& arguments, int64_t first) const {
    alignas(64) float sums[kMostRows][kPanel] = {};
    const int64_t count = std::min(kColumns, g_.columns - first);
    if (g_.bias >= 0) {
      const auto* const bias = host<const float>(arguments.inputs[static_cast<size_t>(g_.bias)]) + first;
      for (int64_t row = 0; row < g_.rows; ++row) std::copy_n(bias, count, sums[row]);
    }
    const auto* const left = host<const float>(arguments.inputs[static_cast<size_t>(g_.left)]);
    panel_kernels().multiply({.left = left,
                              .left_row = g_.left_row,
                              .out = sums[0],
                              .out_row = kColumns,
                              .rows = static_cast<size_t>(g_.rows),
                              .depth = static_cast<size_t>(g_.depth)},
                             reinterpret_cast<const float*>(weights_.get()) + first * g_.depth, kColumns);
    auto* const out = host<float>(arguments.outputs[0]);
    for (int64_t row = 0; row < g_.rows; ++row) {
      const int64_t at = row * g_.columns + first;
      std::copy_n(sums[row], count, out + at);
      if (!tape_.is_empty()) tape_.run(out + at, out + at, arguments.inputs, at, at + count);
    }
  }

  ProductGeometry g_;
  Tape tape_;
  PackedWeights::Bytes weights_;
};

class Skinny final : public Implementation {
 public:
  std::string_view name() const override { return "product.panels"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<ProductGeometry> g = product_geometry(layer, layer.nodes[0]);
    if (!g || g->right < 0 || layer.constants[static_cast<size_t>(g->right)] == nullptr) return {};
    if (layer.outputs[0].dtype != tensor::DType::float32 || g->item_count() != 1 || g->rows > kMostRows ||
        g->left_column != 1)
      return {};
    if (g->bias >= 0 && !has_bias_row(layer, *g)) return {};
    std::optional<Tape> tape = Tape::make(layer, 1, layer.result(layer.nodes[0], 0));
    if (!tape) return {};
    return std::make_unique<SkinnyKernel>(layer, *g, std::move(*tape));
  }
};

Implementations make_all(const Libraries&) {
  Implementations all;
  all.push_back(std::make_unique<Skinny>());
  return all;
}

}  // namespace

KernelFamily cpu_kernel_panels() { return {make_all}; }

}  // namespace assay::engine::cpu
