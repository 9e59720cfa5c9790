// Products of few rows with constant matrices, at the speed at which memory gives these.
#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/forms.h"
#include "engine/devices/cpu/panels/number_panels.h"
#include "engine/devices/cpu/panels/panel_kernels.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/layers/product_geometry.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kMostRows = 8;
constexpr int64_t kColumns = static_cast<int64_t>(kPanel);

// Kernel for words of which a number, or a pair of bfloat16, is one.
class SkinnyKernel final : public PlainKernel {
 public:
  SkinnyKernel(const Layer& layer, const ProductGeometry& geometry, Tape tape)
      : g_(geometry),
        tape_(std::move(tape)),
        dtype_(layer.outputs[0].dtype),
        each_(numbers_of_word(dtype_)),
        multiply_(each_ == 1 ? panel_kernels().multiply : pair_panel_product()),
        weights_(pack_panels(layer, geometry)) {
    tape_.take_floats();
  }

  void run(const Arguments& arguments) const override {
    const auto panels = static_cast<uint64_t>((g_.columns + kColumns - 1) / kColumns);
    const uint64_t panel_bytes = static_cast<uint64_t>(g_.depth / each_) * kPanel * weights_.number_bytes();
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
      const auto* const bias = element(arguments.inputs[static_cast<size_t>(g_.bias)], first);
      for (int64_t row = 0; row < g_.rows; ++row) load_floats(dtype_, bias, sums[row], static_cast<size_t>(count));
    }
    const auto* const left = host<const float>(arguments.inputs[static_cast<size_t>(g_.left)]);
    multiply({.left = left,
              .left_row = g_.left_row / each_,
              .out = sums[0],
              .out_row = kColumns,
              .rows = static_cast<size_t>(g_.rows),
              .depth = static_cast<size_t>(g_.depth / each_)},
             first * (g_.depth / each_));
    std::byte* const out = element(arguments.outputs[0], first);
    if (!tape_.is_empty())
      return tape_.run_rows({sums[0], kColumns}, out, arguments.inputs, {first, g_.columns, g_.rows, count});
    for (int64_t row = 0; row < g_.rows; ++row)
      store_floats(dtype_, sums[row], element(arguments.outputs[0], row * g_.columns + first),
                   static_cast<size_t>(count));
  }

  // With the panel that begins with this number.
  void multiply(const PanelRows& rows, int64_t first) const {
    const std::byte* const panel =
        host<const std::byte>(weights_.bytes.first) + static_cast<uint64_t>(first) * weights_.number_bytes();
    if (weights_.kind == NumberPanels::Kind::words)
      return multiply_(rows, reinterpret_cast<const float*>(panel), kColumns);
    panel_kernels().multiply_halves(rows, reinterpret_cast<const uint16_t*>(panel),
                                    weights_.kind == NumberPanels::Kind::bfloat16);
  }

  std::byte* element(Address first, int64_t index) const {
    return host<std::byte>(first + static_cast<uint64_t>(index * float_bytes(dtype_)));
  }

  ProductGeometry g_;
  Tape tape_;
  tensor::DType dtype_;
  int64_t each_;  // numbers of a word
  PanelProduct multiply_;
  NumberPanels weights_;
};

class Skinny final : public Implementation {
 public:
  std::string_view name() const override { return "product.panels"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<ProductGeometry> g = float_product_of(layer);
    if (!g || layer.constants[static_cast<size_t>(g->right)] == nullptr) return {};
    if (g->item_count() != 1 || g->rows > kMostRows || g->left_column != 1) return {};
    const bool has_whole_words =
        pair_panel_product() != nullptr && g->depth % 2 == 0 && (g->rows == 1 || g->left_row % 2 == 0);
    if (layer.outputs[0].dtype != tensor::DType::float32 && !has_whole_words) return {};
    if (g->bias >= 0 && !has_bias_row(layer, *g)) return {};
    std::optional<Tape> tape = Tape::make(layer, 1, layer.result(layer.nodes[0], 0));
    if (!tape) return {};
    return std::make_unique<SkinnyKernel>(layer, *g, std::move(*tape));
  }
};

}  // namespace

KernelFamily cpu_kernel_panels() { return family_of<Skinny>(); }

}  // namespace assay::engine::cpu
