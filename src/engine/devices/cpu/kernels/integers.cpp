// Single elementwise operators of integers, and casts from and to them, exact.
#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/integers/integer_layer.h"
#include "engine/layers/element_walk.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kIntegersGrain = 1 << 15;  // elements
constexpr int64_t kTile = 1024;              // elements that are put side by side
constexpr size_t kMostOperands = 3;

struct Operand {
  size_t input;
  int64_t bytes;  // of an element
  std::vector<int64_t> strides;
};

template <typename T>
void gather(const std::byte* from, int64_t stride, std::byte* tile, int64_t count) {
  const auto* const elements = reinterpret_cast<const T*>(from);
  auto* const to = reinterpret_cast<T*>(tile);
  if (stride == 0) {
    std::fill_n(to, count, *elements);
    return;
  }
  for (int64_t i = 0; i < count; ++i) to[i] = elements[i * stride];
}

// Elements `stride` apart, side by side: where they are, or in `tile`.
const std::byte* side_by_side(const std::byte* from, int64_t stride, int64_t bytes, std::byte* tile, int64_t count) {
  if (stride == 1) return from;
  if (bytes == 1) gather<uint8_t>(from, stride, tile, count);
  if (bytes == 2) gather<uint16_t>(from, stride, tile, count);
  if (bytes == 4) gather<uint32_t>(from, stride, tile, count);
  if (bytes == 8) gather<uint64_t>(from, stride, tile, count);
  return tile;
}

class IntegerKernel final : public PlainKernel {
 public:
  IntegerKernel(ElementLoop loop, std::vector<Operand> operands, const TensorDesc& out)
      : loop_(loop),
        operands_(std::move(operands)),
        extents_(walked_extents(out)),
        count_(out.count()),
        bytes_(tensor::bit_width(out.dtype) / 8) {
    std::vector<std::vector<int64_t>*> strides;
    for (Operand& operand : operands_) strides.push_back(&operand.strides);
    join_walked(extents_, strides);
  }

  void run(const Arguments& arguments) const override {
    parallel_for(static_cast<uint64_t>(count_), kIntegersGrain, [&](uint64_t begin, uint64_t end) {
      const int64_t inner = extents_.back();
      for (auto at = static_cast<int64_t>(begin); at < static_cast<int64_t>(end);) {
        const int64_t count = std::min(inner - at % inner, static_cast<int64_t>(end) - at);
        run_row(arguments, at, count);
        at += count;
      }
    });
  }

 private:
  // Elements of the result of which all operands are as far apart as their strides say.
  void run_row(const Arguments& arguments, int64_t at, int64_t count) const {
    alignas(64) std::byte tiles[kMostOperands][kTile * sizeof(uint64_t)];
    const std::byte* starts[kMostOperands];
    bool is_in_place = true;
    for (size_t i = 0; i < operands_.size(); ++i) {
      const Operand& operand = operands_[i];
      starts[i] = host<const std::byte>(arguments.inputs[operand.input]) +
                  walked_offset(extents_, operand.strides, at) * operand.bytes;
      is_in_place = is_in_place && operand.strides.back() == 1;
    }
    std::byte* const out = host<std::byte>(arguments.outputs[0]) + at * bytes_;
    if (is_in_place) return loop_(starts, out, static_cast<size_t>(count));
    for (int64_t done = 0; done < count; done += kTile) {
      const int64_t part = std::min(kTile, count - done);
      const std::byte* read[kMostOperands];
      for (size_t i = 0; i < operands_.size(); ++i) {
        const int64_t stride = operands_[i].strides.back();
        const bool is_kept = stride == 0 && done != 0;
        read[i] = is_kept ? tiles[i]
                          : side_by_side(starts[i] + done * stride * operands_[i].bytes, stride, operands_[i].bytes,
                                         tiles[i], part);
      }
      loop_(read, out + done * bytes_, static_cast<size_t>(part));
    }
  }

  ElementLoop loop_;
  std::vector<Operand> operands_;
  std::vector<int64_t> extents_;
  int64_t count_;
  int64_t bytes_;  // of an element of the result
};

class Integers final : public Implementation {
 public:
  std::string_view name() const override { return "elementwise.integers"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<IntegerLayer> found = find_integer_layer(layer);
    if (!found || found->operands.size() > kMostOperands || !is_dense(layer.outputs[0])) return {};
    std::vector<Operand> operands;
    for (const size_t input : found->operands) {
      const TensorDesc& desc = layer.inputs[input];
      std::optional<std::vector<int64_t>> strides = walked_strides(desc, layer.outputs[0]);
      if (!strides) return {};
      operands.push_back({input, tensor::bit_width(desc.dtype) / 8, std::move(*strides)});
    }
    return std::make_unique<IntegerKernel>(found->loop, std::move(operands), layer.outputs[0]);
  }
};

}  // namespace

KernelFamily cpu_kernel_integers() { return family_of<Integers>(); }

}  // namespace assay::engine::cpu
