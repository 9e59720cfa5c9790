#include "engine/devices/cpu/panels/code_panels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "tensor/elements.h"
#include "tensor/float_format.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kColumns = static_cast<int64_t>(kPanel);

// One integer of 4 or 8 bits.
int integer_at(tensor::Bytes bytes, int64_t index, const CompressedProduct& product) {
  const int bits = product.bits;
  const auto packed = static_cast<int>(bytes[static_cast<size_t>(bits == 8 ? index : index / 2)]);
  const int code = bits == 8 ? packed : (packed >> (index % 2 * 4)) & 15;
  const int sign = 1 << (bits - 1);
  return product.is_signed && code >= sign ? code - 2 * sign : code;
}

// The shift of codes and zero points that gives bytes a sign and nibbles none.
int shift_of(const CompressedProduct& product) {
  if (product.bits == 8) return product.is_signed ? 0 : -128;
  return product.is_signed ? 8 : 0;
}

// The float16 with the same value; empty: there is none, or only a denormal one.
std::optional<uint16_t> as_half(float number) {
  constexpr float kLeast = 0x1p-14F;
  const uint64_t code = tensor::encode<tensor::kFloat16>(number);
  const bool is_denormal = number != 0 && std::abs(number) < kLeast;
  if (is_denormal || !std::isfinite(number) || tensor::decode<tensor::kFloat16>(code) != double{number}) return {};
  return static_cast<uint16_t>(code);
}

// The scales and zero points of a block of one column.
class Numbers {
 public:
  Numbers(const Layer& layer, const CompressedProduct& product)
      : product_(product),
        scales_(layer.constant(product.scales.value)->bytes()),
        zeros_(product.zeros.value.valid() ? layer.constant(product.zeros.value)->bytes() : tensor::Bytes()) {}

  float scale(int64_t block, int64_t column) const { return float_at(scales_, index(product_.scales, block, column)); }
  float zero(int64_t block, int64_t column) const {
    const auto shift = static_cast<float>(shift_of(product_));
    if (zeros_.empty()) return product_.zero + shift;
    const int64_t at = index(product_.zeros, block, column);
    if (product_.are_zeros_floats) return float_at(zeros_, at) + shift;
    return static_cast<float>(integer_at(zeros_, at, product_)) + shift;
  }
  bool has_one_zero() const {
    if (zeros_.empty()) return true;
    for (int64_t column = 0; column < product_.columns; ++column) {
      for (int64_t block = 0; block * product_.block < product_.depth; ++block) {
        if (zero(block, column) != zero(0, 0)) return false;
      }
    }
    return true;
  }
  bool are_scales_halves() const {
    const std::span all(reinterpret_cast<const float*>(scales_.data()), scales_.size() / sizeof(float));
    return std::ranges::all_of(all, [](float scale) { return as_half(scale).has_value(); });
  }
  std::string fingerprint() const {
    const auto hash = [](tensor::Bytes bytes) {
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    };
    return fmt::format("{:x} {:x}", hash(scales_), hash(zeros_));
  }

 private:
  static int64_t index(const BlockNumbers& numbers, int64_t block, int64_t column) {
    return block * numbers.block + column * numbers.column;
  }
  static float float_at(tensor::Bytes bytes, int64_t index) {
    return reinterpret_cast<const float*>(bytes.data())[index];
  }

  const CompressedProduct& product_;
  tensor::Bytes scales_, zeros_;
};

class Packer {
 public:
  Packer(const Layer& layer, const CompressedProduct& product, const CodePanel& panel)
      : product_(product), panel_(panel), codes_(layer.constant(product.codes)->bytes()), numbers_(layer, product) {}

  // The panel that begins with this column.
  void pack(int64_t first, std::byte* out) const {
    const int64_t count = std::min(kColumns, product_.columns - first);
    for (int64_t row = 0; row < product_.depth; row += product_.block) {
      const int64_t rows = std::min(product_.block, product_.depth - row);
      for (int64_t c = 0; c < count; ++c) pack_scale(numbers_.scale(row / product_.block, first + c), c, out);
      auto* const zeros = reinterpret_cast<float*>(out + panel_.form.scale_bytes());
      for (int64_t c = 0; c < count && panel_.form.has_zeros; ++c)
        zeros[c] = numbers_.zero(row / product_.block, first + c);
      out += panel_.form.number_bytes();
      for (int64_t c = 0; c < count; ++c) pack_column(row, rows, first, c, out);
      out += panel_.code_bytes(static_cast<size_t>(rows));
    }
  }

 private:
  void pack_scale(float scale, int64_t c, std::byte* out) const {
    if (panel_.form.are_scales_halves)
      reinterpret_cast<uint16_t*>(out)[c] = *as_half(scale);
    else
      reinterpret_cast<float*>(out)[c] = scale;
  }

  void pack_column(int64_t row, int64_t rows, int64_t first, int64_t c, std::byte* out) const {
    const auto each = static_cast<int64_t>(panel_.rows_of_word());
    const int shift = shift_of(product_);
    const uint32_t mask = (1U << product_.bits) - 1;
    for (int64_t k = 0; k < rows; ++k) {
      const int code = integer_at(codes_, (row + k) * product_.row + (first + c) * product_.column, product_) + shift;
      auto& word = reinterpret_cast<uint32_t*>(out)[k / each * kColumns + c];
      word |= (static_cast<uint32_t>(code) & mask) << (k % each * product_.bits);
    }
  }

  const CompressedProduct& product_;
  const CodePanel& panel_;
  tensor::Bytes codes_;
  Numbers numbers_;
};

}  // namespace

CodePanels::CodePanels(const Layer& layer, const CompressedProduct& product) {
  const Numbers numbers(layer, product);
  panel_.block = static_cast<size_t>(product.block);
  panel_.form.are_nibbles = product.bits == 4;
  panel_.zero = numbers.has_one_zero() ? numbers.zero(0, 0) : 0;
  panel_.form.are_scales_halves = numbers.are_scales_halves();
  panel_.are_zeros_whole = !product.are_zeros_floats;
  panel_.form.has_zeros = !numbers.has_one_zero() || (!panel_.form.are_nibbles && panel_.zero != 0);
  for (int64_t row = 0; row < product.depth; row += product.block) {
    const auto rows = static_cast<size_t>(std::min(product.block, product.depth - row));
    panel_bytes_ += panel_.form.number_bytes() + panel_.code_bytes(rows);
  }
  const auto panels = static_cast<uint64_t>((product.columns + kColumns - 1) / kColumns);
  const std::string form =
      fmt::format("code words{} {} {} {} {} {} {}", panel_.form.are_scales_halves ? ", half scales," : "",
                  product.depth, product.columns, product.block, product.row, product.column, numbers.fingerprint());
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
