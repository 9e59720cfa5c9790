#include "engine/devices/cpu/panels/code_panels.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/layers/compressed_weights.h"
#include "tensor/float_format.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kColumns = static_cast<int64_t>(kPanel);

// The shift of codes and zero points that gives bytes a sign and nibbles none.
int shift_of(const CompressedProduct& product) {
  if (product.bits == 8) return product.is_signed ? 0 : -128;
  return product.is_signed ? 8 : 0;
}

class Packer {
 public:
  Packer(const Layer& layer, const CompressedProduct& product, const CodePanel& panel)
      : product_(product), panel_(panel), weights_(layer, product) {}

  // The panel that begins with this column.
  void pack(int64_t first, std::byte* out) const {
    const int64_t count = std::min(kColumns, product_.columns - first);
    for (int64_t row = 0; row < product_.depth; row += product_.block) {
      const int64_t rows = std::min(product_.block, product_.depth - row);
      for (int64_t c = 0; c < count; ++c) pack_scale(weights_.scale(row / product_.block, first + c), c, out);
      auto* const zeros = reinterpret_cast<float*>(out + panel_.form.scale_bytes());
      for (int64_t c = 0; c < count && panel_.form.has_zeros; ++c)
        zeros[c] = weights_.zero(row / product_.block, first + c) + static_cast<float>(shift_of(product_));
      out += panel_.form.number_bytes();
      for (int64_t c = 0; c < count; ++c) pack_column(row, rows, first, c, out);
      out += panel_.code_bytes(static_cast<size_t>(rows));
    }
  }

 private:
  void pack_scale(float scale, int64_t c, std::byte* out) const {
    if (panel_.form.are_scales_halves)
      reinterpret_cast<uint16_t*>(out)[c] = static_cast<uint16_t>(tensor::encode<tensor::kFloat16>(scale));
    else
      reinterpret_cast<float*>(out)[c] = scale;
  }

  void pack_column(int64_t row, int64_t rows, int64_t first, int64_t c, std::byte* out) const {
    const auto each = static_cast<int64_t>(panel_.rows_of_word());
    const int shift = shift_of(product_);
    const uint32_t mask = (1U << product_.bits) - 1;
    for (int64_t k = 0; k < rows; ++k) {
      const int code = weights_.code(row + k, first + c) + shift;
      auto& word = reinterpret_cast<uint32_t*>(out)[k / each * kColumns + c];
      word |= (static_cast<uint32_t>(code) & mask) << (k % each * product_.bits);
    }
  }

  const CompressedProduct& product_;
  const CodePanel& panel_;
  CompressedWeights weights_;
};

}  // namespace

CodePanels::CodePanels(const Layer& layer, const CompressedProduct& product) {
  const CompressedWeights weights(layer, product);
  panel_.block = static_cast<size_t>(product.block);
  panel_.form.are_nibbles = product.bits == 4;
  panel_.zero = weights.has_one_zero() ? weights.zero(0, 0) + static_cast<float>(shift_of(product)) : 0;
  panel_.form.are_scales_halves = weights.are_scales_halves();
  panel_.are_zeros_whole = !product.are_zeros_floats;
  panel_.form.has_zeros = !weights.has_one_zero() || (!panel_.form.are_nibbles && panel_.zero != 0);
  for (int64_t row = 0; row < product.depth; row += product.block) {
    const auto rows = static_cast<size_t>(std::min(product.block, product.depth - row));
    panel_bytes_ += panel_.form.number_bytes() + panel_.code_bytes(rows);
  }
  const auto panels = static_cast<uint64_t>((product.columns + kColumns - 1) / kColumns);
  const std::string form =
      fmt::format("code words{} {} {} {} {} {} {}", panel_.form.are_scales_halves ? ", half scales," : "",
                  product.depth, product.columns, product.block, product.row, product.column, weights.fingerprint());
  bytes_ = layer.packed->get(*layer.constant(product.codes), form, panels * panel_bytes_, [&](std::byte* bytes) {
    const Packer packer(layer, product, panel_);
    parallel_for(panels, 1, [&](uint64_t panel, uint64_t) {
      std::fill_n(bytes + panel * panel_bytes_, panel_bytes_, std::byte());
      packer.pack(static_cast<int64_t>(panel) * kColumns, bytes + panel * panel_bytes_);
    });
  });
}

CodePanel CodePanels::panel(int64_t index) const {
  CodePanel panel = panel_;
  panel.blocks = host<const std::byte>(bytes_.first) + static_cast<uint64_t>(index) * panel_bytes_;
  return panel;
}

}  // namespace assay::engine::cpu
