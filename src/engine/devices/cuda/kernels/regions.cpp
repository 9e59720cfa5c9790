// GridSample and RoiAlign: places of pictures that data names.
#include <limits>

#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/layers/grid_sample.h"
#include "engine/layers/roi_align.h"

namespace assay::engine::cuda {
namespace {

constexpr unsigned kRegionThreads = 128;
constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

// True if pictures and what names places of them are floats of few enough elements.
bool are_known(const Layer& layer) {
  for (const TensorDesc& desc : {layer.inputs[0], layer.inputs[1], layer.outputs[0]}) {
    if (!is_short_float(desc.dtype) || desc.count() > kMostElements) return false;
  }
  return true;
}

class GridSample final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "grid_sample.points"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<GridForm> form = find_grid_sample(layer);
    if (!form || !are_known(layer)) return {};
    constexpr int64_t kChannelsOfThread = 16, kMostBlocks = 65535;
    const tensor::Shape& in = layer.inputs[0].dims;
    const int64_t points = layer.outputs[0].dims[2] * layer.outputs[0].dims[3];
    const int64_t parts = blocks_for(in[1], kChannelsOfThread);
    if (parts > kMostBlocks) return {};
    KernelWriter writer;
    writer.type("T", layer.inputs[0].dtype);
    writer.type("G", layer.inputs[1].dtype);
    writer.pointer("kIn", "const T", input_pointer(0));
    writer.pointer("kGrid", "const G", input_pointer(1));
    writer.pointer("kOut", "T", output_pointer(0));
    writer.number("kAllPoints", in[0] * points);
    writer.divisor("kPoints", points);
    writer.number("kChannels", in[1]);
    writer.number("kHeight", in[2]);
    writer.number("kWidth", in[3]);
    writer.constant("kChannelsOfThread", kChannelsOfThread);
    writer.constant("kMode", static_cast<int64_t>(form->mode));
    writer.constant("kPadding", static_cast<int64_t>(form->padding));
    writer.constant("kAligns", form->aligns_corners ? 1 : 0);
    const int64_t blocks = blocks_for(in[0] * points, kRegionThreads);
    Launch launch = writer.finish(programs(), kRegionThreads, blocks, grid_sample_text());
    launch.grid[1] = static_cast<unsigned>(parts);
    return single(std::move(launch));
  }
};

class RoiAlign final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "roi_align.bins"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<RoiForm> form = find_roi_align(layer);
    if (!form || !are_known(layer)) return {};
    const tensor::Shape& in = layer.inputs[0].dims;
    const int64_t results = layer.outputs[0].count();
    KernelWriter writer;
    writer.type("T", layer.inputs[0].dtype);
    writer.type("R", layer.inputs[1].dtype);
    writer.pointer("kIn", "const T", input_pointer(0));
    writer.pointer("kRegions", "const R", input_pointer(1));
    writer.pointer("kImage", "const int64", input_pointer(2));
    writer.pointer("kOut", "T", output_pointer(0));
    writer.pointer("kFault", "int", fixed_pointer({programs().card().fault()}));
    writer.number("kResults", results);
    writer.divisor("kByChannels", in[1]);
    writer.divisor("kByWidth", form->rules.width);
    writer.divisor("kByHeight", form->rules.height);
    writer.number("kImages", in[0]);
    writer.number("kHeight", in[2]);
    writer.number("kWidth", in[3]);
    writer.number("kRatio", form->rules.ratio);
    writer.real("kScale", static_cast<float>(form->rules.scale));
    writer.constant("kIsHalfPixel", form->rules.is_half_pixel ? 1 : 0);
    writer.constant("kTakesGreatest", form->takes_greatest ? 1 : 0);
    return single(writer.finish(programs(), kRegionThreads, blocks_for(results, kRegionThreads), roi_align_text()));
  }
};

}  // namespace

KernelFamily cuda_kernel_regions() { return family_of<GridSample, RoiAlign>(); }

}  // namespace assay::engine::cuda
