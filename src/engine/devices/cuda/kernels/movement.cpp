// Concat, Gather, GatherElements, and blocks between depth and space.
#include <limits>

#include "engine/devices/cuda/copy.h"
#include "engine/devices/cuda/generate/element_site.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "ops/kernels/movement/places.h"

namespace assay::engine::cuda {
namespace {

constexpr unsigned kGatherThreads = 256;
constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

int64_t axis_of(const Layer& layer, int64_t otherwise, const TensorDesc& desc) {
  return ops::normalize_axis(layer.facts(layer.nodes[0]).integer("axis", otherwise),
                             static_cast<int64_t>(desc.dims.size()));
}

class Concat final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "movement.concat"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || !layer.starts_with("Concat")) return {};
    const std::vector<CopyPart> parts = concat_copies(layer);
    return parts.empty() ? nullptr : make_copies(programs(), parts);
  }
};

bool is_gathered(const Layer& layer) {
  for (const TensorDesc& desc : {layer.inputs[0], layer.inputs[1], layer.outputs[0]}) {
    if (!has_layout(desc, Layout::plain) || element_type(desc.dtype).empty() || desc.count() > kMostElements)
      return false;
  }
  return layer.outputs[0].count() > 0 && layer.inputs[0].count() > 0;
}

void add_gathered(const Layer& layer, DevicePointer fault, KernelWriter& writer) {
  writer.type("T", layer.inputs[0].dtype);
  writer.type("Index", layer.inputs[1].dtype);
  writer.pointer("kIn", "const T", input_pointer(0));
  writer.pointer("kIndex", "const Index", input_pointer(1));
  writer.pointer("kOut", "T", output_pointer(0));
  writer.pointer("kFault", "int", fixed_pointer({fault}));
  writer.number("kResults", layer.outputs[0].count());
}

class Gather final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "movement.gather"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || !layer.starts_with("Gather") || layer.op(layer.nodes[0]) != "Gather") return {};
    if (!is_gathered(layer)) return {};
    const TensorDesc& data = layer.inputs[0];
    const auto axis = static_cast<size_t>(axis_of(layer, 0, data));
    int64_t row = 1;
    for (size_t i = axis + 1; i < data.dims.size(); ++i) row *= data.dims[i];
    KernelWriter writer;
    add_gathered(layer, programs().card().fault(), writer);
    writer.number("kRows", data.dims[axis]);
    writer.divisor("kRow", row);
    writer.divisor("kIndices", layer.inputs[1].count());
    return single(
        writer.finish(programs(), kGatherThreads, blocks_for(layer.outputs[0].count(), kGatherThreads), gather_text()));
  }
};

class GatherElements final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "movement.gather_elements"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || layer.op(layer.nodes[0]) != "GatherElements" || !is_gathered(layer)) return {};
    const TensorDesc& data = layer.inputs[0];
    const TensorDesc& indices = layer.inputs[1];
    const auto axis = static_cast<size_t>(axis_of(layer, 0, data));
    KernelWriter writer;
    add_gathered(layer, programs().card().fault(), writer);
    writer.number("kLength", data.dims[axis]);
    writer.number("kStep", data.strides[axis]);
    // The place in the data of a result's dims, but for the axis.
    std::string place = "DEVICE int64 place_of(const Params& p, uint32 rest) {\n  int64 place = 0;\n  uint32 q;\n";
    for (size_t dim = indices.dims.size(); dim-- > 0;) {
      const size_t at = writer.launch().numbers.size();
      writer.launch().add_divisor(indices.dims[dim]);
      writer.launch().add(dim == axis ? int64_t{0} : data.strides[dim]);
      place += fmt::format(
          "  q = quotient(rest, DIVISOR({0}));\n  place += (int64)(rest - q * (uint32)p.n[{0}]) * p.n[{1}];\n"
          "  rest = q;\n",
          at, at + 3);
    }
    writer.text(place + "  return place;\n}\n");
    return single(writer.finish(programs(), kGatherThreads, blocks_for(layer.outputs[0].count(), kGatherThreads),
                                gather_elements_text()));
  }
};

class Blocks final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "movement.blocks"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const bool is_to_space = layer.starts_with("DepthToSpace");
    if (!layer.is_single() || (!is_to_space && !layer.starts_with("SpaceToDepth"))) return {};
    const std::vector<CopyPart> parts = block_copies(layer, is_to_space);
    return parts.empty() ? nullptr : make_copies(programs(), parts);
  }
};

}  // namespace

KernelFamily cuda_kernel_movement() { return family_of<Concat, Gather, GatherElements, Blocks>(); }

}  // namespace assay::engine::cuda
