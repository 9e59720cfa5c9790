// Pad in all its modes, in whatever order the dims lie.
#include "engine/layers/padding.h"

#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "engine/devices/cuda/copy.h"
#include "engine/devices/cuda/generate/element_site.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"

namespace assay::engine::cuda {
namespace {

constexpr unsigned kPadThreads = 256;
constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

// A dim of the result, or several that are copied as they are.
struct PaddedAxis {
  int64_t extent = 1;
  int64_t stride = 0;                 // in the operand
  const ops::AxisMap* map = nullptr;  // null: elements stay where they are
};

bool stays(const ops::AxisMap& map, int64_t extent) {
  for (int64_t i = 0; i < static_cast<int64_t>(map.size()); ++i) {
    if (map[static_cast<size_t>(i)] != i) return false;
  }
  return static_cast<int64_t>(map.size()) == extent;
}

// Innermost first.
std::vector<PaddedAxis> axes_of(const Padding& padding, const TensorDesc& in, const TensorDesc& out) {
  std::vector<PaddedAxis> axes;
  for (const size_t dim : inner_first(out)) {
    PaddedAxis axis{out.dims[dim], in.strides[dim], &padding.maps[dim]};
    if (stays(*axis.map, in.dims[dim])) axis.map = nullptr;
    const bool is_joined = !axes.empty() && axes.back().map == nullptr && axis.map == nullptr &&
                           axis.stride == axes.back().stride * axes.back().extent;
    if (is_joined)
      axes.back().extent *= axis.extent;
    else
      axes.push_back(axis);
  }
  return axes;
}

class PadWriter {
 public:
  PadWriter(Programs& programs, const Padding& padding, tensor::DType type)
      : programs_(programs), padding_(padding), type_(type) {}

  std::unique_ptr<Kernel> write(const TensorDesc& in, const TensorDesc& out) {
    std::vector<PaddedAxis> axes = axes_of(padding_, in, out);
    const int64_t pack = pack_of(axes.front());
    writer_.type("T", type_);
    writer_.constant("kPack", pack);
    writer_.pointer("kIn", "const T", input_pointer(0));
    writer_.pointer("kOut", "T", output_pointer(0));
    writer_.number("kPieces", out.count() / pack);
    axes.front().extent /= pack;
    axes.front().stride *= pack;
    add_filler();
    std::string source =
        "DEVICE int64 source_of(const Params& p, uint32 rest) {\n  int64 source = 0, i;\n  uint32 q;\n";
    for (const PaddedAxis& axis : axes) source += text_of(axis);
    writer_.text(source + "  return source;\n}\n");
    const int64_t blocks = blocks_for(out.count() / pack, kPadThreads);
    launches_.all.push_back(writer_.finish(programs_, kPadThreads, blocks, pad_text()));
    return make_kernel(std::move(launches_));
  }

 private:
  int64_t pack_of(const PaddedAxis& inner) const {
    constexpr int64_t kPackBits = 128;
    int64_t pack = inner.map == nullptr && inner.stride == 1 ? kPackBits / tensor::bit_width(type_) : 1;
    while (inner.extent % pack != 0) pack /= 2;
    return pack;
  }

  void add_filler() {
    if (padding_.is_filler_given) {
      writer_.pointer("kFillerInput", "const T", input_pointer(Padding::kFiller));
      return writer_.text("#define kFiller (*kFillerInput)\n");
    }
    std::array<int32_t, 2> words{};
    std::memcpy(words.data(), padding_.filler.data(), sizeof words);
    writer_.number("kFillerLow", words[0]);
    writer_.number("kFillerHigh", words[1]);
    writer_.text("#define kFiller ((T)((uint64)(uint32)kFillerHigh << 32 | (uint32)kFillerLow))\n");
  }

  // Statements that take the axis's share of the place.
  std::string text_of(const PaddedAxis& axis) {
    Launch& launch = writer_.launch();
    const size_t at = launch.numbers.size();
    launch.add_divisor(axis.extent);
    launch.add(axis.stride);
    std::string made =
        fmt::format("  q = quotient(rest, DIVISOR({0}));\n  i = rest - q * (uint32)p.n[{0}];\n  rest = q;\n", at);
    if (axis.map != nullptr) {
      const std::vector<int32_t> places(axis.map->begin(), axis.map->end());
      launches_.constants.push_back(programs_.upload(std::as_bytes(std::span(places))));
      made += fmt::format("  i = ((const int*)p.at[{}])[i];\n  if (i < 0) return -1;\n", launch.pointers.size());
      launch.pointers.push_back(fixed_pointer(launches_.constants.back().first));
    }
    return made + fmt::format("  source += i * p.n[{}];\n", at + 3);
  }

  Programs& programs_;
  const Padding& padding_;
  tensor::DType type_;
  KernelWriter writer_;
  Launches launches_;
};

class Pad final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "movement.pad"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<Padding> padding = find_padding(layer);
    if (!padding) return {};
    const TensorDesc& in = layer.inputs[0];
    const TensorDesc& out = layer.outputs[0];
    const tensor::DType type = type_of_bits(tensor::bit_width(in.dtype));
    const bool is_known = type != tensor::DType::undefined && is_dense(in) && is_dense(out) &&
                          in.count() <= kMostElements && out.count() <= kMostElements;
    return is_known ? PadWriter(programs(), *padding, type).write(in, out) : nullptr;
  }
};

}  // namespace

KernelFamily cuda_kernel_padding() { return family_of<Pad>(); }

}  // namespace assay::engine::cuda
