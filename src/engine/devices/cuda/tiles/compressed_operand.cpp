#include "engine/devices/cuda/tiles/compressed_operand.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "engine/devices/cuda/text/texts.h"
#include "engine/layers/compressed_weights.h"
#include "engine/weights/packed_weights.h"
#include "tensor/float_format.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kAlignment = 16;

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Codes and zero points become numbers without a sign.
int shift_of(const CompressedProduct& product) { return product.is_signed ? 1 << (product.bits - 1) : 0; }

class Packer {
 public:
  Packer(const CompressedOperand& operand, const CompressedWeights& weights, int shift, std::byte* to)
      : o_(operand), weights_(weights), shift_(shift), to_(to) {}

  void pack() const {
    std::fill_n(to_, o_.size_bytes(), std::byte());
    for (int64_t column = 0; column < o_.columns; ++column) {
      for (int64_t block = 0; block < o_.blocks; ++block) {
        pack_block(block, column);
        add_numbers(block, column);
      }
    }
  }

 private:
  void pack_block(int64_t block, int64_t column) const {
    const int64_t first = (column * o_.blocks + block) * o_.units * o_.unit;
    const int64_t rows = std::min(o_.block, o_.depth - block * o_.block);
    for (int64_t i = 0; i < rows; ++i) {
      const int code = weights_.code(block * o_.block + i, column) + shift_;
      const int64_t at = (first + i) * o_.bits;
      to_[at / 8] |= static_cast<std::byte>(code << (at % 8));
    }
  }

  void add_numbers(int64_t block, int64_t column) const {
    const int64_t at = column * o_.blocks + block;
    const float scale = weights_.scale(block, column);
    std::byte* const scales = to_ + o_.scales_offset();
    if (o_.are_scales_halves) {
      const auto half = static_cast<uint16_t>(tensor::encode<tensor::kFloat16>(scale));
      std::memcpy(scales + at * static_cast<int64_t>(sizeof half), &half, sizeof half);
    } else {
      std::memcpy(scales + at * static_cast<int64_t>(sizeof scale), &scale, sizeof scale);
    }
    if (!o_.has_zeros) return;
    const float zero = weights_.zero(block, column) + static_cast<float>(shift_);
    std::byte* const zeros = to_ + o_.zeros_offset();
    if (o_.are_zeros_whole)
      zeros[at] = static_cast<std::byte>(zero);
    else
      std::memcpy(zeros + at * static_cast<int64_t>(sizeof zero), &zero, sizeof zero);
  }

  const CompressedOperand& o_;
  const CompressedWeights& weights_;
  int shift_;
  std::byte* to_;
};

}  // namespace

int64_t CompressedOperand::zeros_offset() const {
  return scales_offset() + aligned(columns * blocks * (are_scales_halves ? 2 : 4));
}

int64_t CompressedOperand::size_bytes() const {
  return zeros_offset() + (has_zeros ? aligned(columns * blocks * (are_zeros_whole ? 1 : 4)) : 0);
}

CompressedOperand compressed_operand(const Layer& layer, const CompressedProduct& product, bool packs) {
  constexpr int64_t kUnit = 32, kSmallUnit = 16;
  const CompressedWeights weights(layer, product);
  CompressedOperand operand{.bytes = {},
                            .depth = product.depth,
                            .columns = product.columns,
                            .block = product.block,
                            .blocks = weights.blocks(),
                            .bits = product.bits};
  operand.unit = product.block % kUnit == 0 || product.block > kUnit ? kUnit : kSmallUnit;
  operand.units = (std::min(product.block, product.depth) + operand.unit - 1) / operand.unit;
  operand.are_scales_halves = weights.are_scales_halves();
  operand.are_zeros_whole = !product.are_zeros_floats;
  operand.has_zeros = !weights.has_one_zero();
  operand.zero = weights.zero(0, 0) + static_cast<float>(shift_of(product));
  if (!packs) return operand;
  const std::string form = fmt::format("cuda.codes/{} {} {} {} {} {}", product.depth, product.columns, product.block,
                                       product.row, product.column, weights.fingerprint());
  operand.bytes = layer.packed->get(*layer.constant(product.codes), form, static_cast<uint64_t>(operand.size_bytes()),
                                    [&](std::byte* to) { Packer(operand, weights, shift_of(product), to).pack(); });
  return operand;
}

std::string codes_text(const CompressedOperand& operand, Launch& launch) {
  std::string made =
      fmt::format("typedef {} CodeScale;\ntypedef {} CodeZero;\n", operand.are_scales_halves ? "half" : "float",
                  operand.are_zeros_whole ? "uint8" : "float");
  const auto set = [&](std::string_view name, int64_t value) { made += fmt::format("#define {} {}\n", name, value); };
  set("kBits", operand.bits);
  set("kUnit", operand.unit);
  set("kAreZerosWhole", operand.are_zeros_whole ? 1 : 0);
  set("kHasZeros", operand.has_zeros ? 1 : 0);
  set("kIsBlockEven", operand.block % 4 == 0 ? 1 : 0);
  made += compressed_text();
  made += "DEVICE Compressed compressed_of(const Params& p) {\n  Compressed codes;\n";
  const auto pointer = [&](std::string_view name, std::string_view type, int64_t offset) {
    made += fmt::format("  codes.{} = (const {}*)p.at[{}];\n", name, type, launch.pointers.size());
    launch.pointers.push_back(fixed_pointer(operand.bytes.first + static_cast<uint64_t>(offset)));
  };
  pointer("words", "uint32", 0);
  pointer("scales", "CodeScale", operand.scales_offset());
  pointer("zeros", "CodeZero", operand.has_zeros ? operand.zeros_offset() : 0);
  const size_t at = launch.numbers.size();
  launch.add_divisor(operand.block);
  launch.add_divisor(operand.units);
  launch.add(operand.depth);
  launch.add(operand.blocks);
  launch.add(operand.zero);
  return made + fmt::format(
                    "  codes.by_block = DIVISOR({});\n  codes.by_units = DIVISOR({});\n  codes.depth = p.n[{}];\n"
                    "  codes.blocks = p.n[{}];\n  codes.zero = NUMBER({});\n  return codes;\n}}\n",
                    at, at + 3, at + 6, at + 7, at + 8);
}

}  // namespace assay::engine::cuda
