// Collectives of float32, and those that move elements, between ranks whose values lie in memory of this process.
#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "ops/ranks.h"
#include "tensor/borrowed.h"

namespace assay::engine::cpu {
namespace {

constexpr uint64_t kGrain = 1 << 14;  // elements

template <typename Reduce>
void reduce_into(float* sums, const float* more, uint64_t count, Reduce reduce) {
  for (uint64_t i = 0; i < count; ++i) sums[i] = reduce(sums[i], more[i]);
}

void reduce_into(std::string_view reduction, float* sums, const float* more, uint64_t count) {
  if (reduction == "prod") return reduce_into(sums, more, count, [](float a, float b) { return a * b; });
  if (reduction == "min") return reduce_into(sums, more, count, [](float a, float b) { return std::min(a, b); });
  if (reduction == "max") return reduce_into(sums, more, count, [](float a, float b) { return std::max(a, b); });
  reduce_into(sums, more, count, [](float a, float b) { return a + b; });
}

class CollectiveKernel final : public PlainKernel {
 public:
  explicit CollectiveKernel(const Layer& layer) : node_(layer.facts(layer.nodes[0])), in_(layer.inputs[0]) {}

  void run(const Arguments& arguments) const override {
    ops::Ranks& ranks = ops::current_ranks();
    const ops::Collective collective = ops::collective_of(node_, in_.dtype, in_.dims, ranks);
    const ops::Combination combination =
        ops::combination_of(collective, ranks.rank(), static_cast<uint64_t>(in_.count()));
    const tensor::Bytes bytes(host<const std::byte>(arguments.inputs[0]), in_.size_bytes());
    const tensor::Tensor mine(in_.dtype, in_.dims, tensor::make_borrowed(bytes));
    ranks.meet(collective, mine, [&](std::span<const tensor::Tensor> parts) {
      if (combination.reduces)
        reduce(collective.reduction, parts, combination.pieces.front(), host<float>(arguments.outputs[0]));
      else
        move(parts, combination.pieces, host<std::byte>(arguments.outputs[0]));
    });
  }

 private:
  // In the order of ranks, so that all ranks have the same bits.
  static void reduce(std::string_view reduction, std::span<const tensor::Tensor> parts, const ops::Piece& piece,
                     float* out) {
    const auto elements = [&](size_t part) {
      return reinterpret_cast<const float*>(parts[part].bytes().data()) + piece.begin;
    };
    parallel_for(piece.count, kGrain, [&](uint64_t begin, uint64_t end) {
      std::copy(elements(0) + begin, elements(0) + end, out + begin);
      for (size_t part = 1; part < parts.size(); ++part) {
        reduce_into(reduction, out + begin, elements(part) + begin, end - begin);
      }
      if (reduction != "avg") return;
      for (uint64_t i = begin; i < end; ++i) out[i] /= static_cast<float>(parts.size());
    });
  }

  void move(std::span<const tensor::Tensor> parts, const std::vector<ops::Piece>& pieces, std::byte* out) const {
    const uint64_t each = tensor::bit_width(in_.dtype) / 8;
    for (const ops::Piece& piece : pieces) {
      std::memcpy(out, parts[piece.part].bytes().data() + piece.begin * each, piece.count * each);
      out += piece.count * each;
    }
  }

  ops::Node node_;
  TensorDesc in_;
};

class CollectiveLayer final : public Implementation {
 public:
  std::string_view name() const override { return "collective.ranks"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || !layer.starts_with("DistCollective") || !layer.lies_plainly()) return {};
    const TensorDesc& in = layer.inputs[0];
    const std::string_view operation = layer.facts(layer.nodes[0]).string("collective_operation");
    const bool reduces = operation.find("reduce") != std::string_view::npos;
    if (in.count() == 0 || in.dtype == tensor::DType::string || tensor::bit_width(in.dtype) % 8 != 0) return {};
    if (reduces && in.dtype != tensor::DType::float32) return {};
    return std::make_unique<CollectiveKernel>(layer);
  }
};

}  // namespace

KernelFamily cpu_kernel_collectives() { return family_of<CollectiveLayer>(); }

}  // namespace assay::engine::cpu
