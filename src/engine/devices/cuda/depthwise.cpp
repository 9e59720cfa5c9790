#include "engine/devices/cuda/depthwise.h"

#include <cstring>

#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/layers/form.h"
#include "engine/weights/packed_weights.h"

namespace assay::engine::cuda {
namespace {

constexpr unsigned kDepthwiseThreads = 128;

// [taps, channels] of filters [channels, 1, height, width].
Buffer turned_filters(const Layer& layer, const tensor::Tensor& weights, int64_t channels, int64_t taps) {
  const auto bytes = static_cast<size_t>(tensor::bit_width(weights.dtype()) / 8);
  const auto size = static_cast<uint64_t>(channels * taps) * bytes;
  return layer.packed->get(weights, "cuda.taps", size, [&](std::byte* to) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t channel = 0; channel < channels; ++channel) {
        std::memcpy(to + static_cast<size_t>(tap * channels + channel) * bytes,
                    weights.bytes().data() + static_cast<size_t>(channel * taps + tap) * bytes, bytes);
      }
    }
  });
}

// Channels of a thread: as many as 16 bytes hold, fewer where the card would not be full.
int64_t pack_of(const ConvGeometry& g, tensor::DType dtype, int processors) {
  constexpr int64_t kThreadsOfProcessor = 512;
  const int64_t results = g.batch * g.out_height * g.out_width * g.channels;
  const int64_t wanted = processors * kThreadsOfProcessor;
  int64_t pack = 128 / tensor::bit_width(dtype);
  while (pack > 1 && (g.channels % pack != 0 || results / pack < wanted)) pack /= 2;
  return pack;
}

}  // namespace

bool is_depthwise(const Layer& layer, const ConvolutionForm& form) {
  const ConvGeometry& g = form.geometry;
  const TensorDesc& data = layer.inputs[static_cast<size_t>(form.data)];
  return !form.is_integer() && !g.is_transposed && g.groups == g.channels && g.out_channels == g.channels &&
         is_short_float(data.dtype) && form.weights->dtype() == data.dtype && has_layout(data, Layout::channels_last) &&
         has_channels_last_order(layer.outputs[0]);
}

void write_windows(const Layer& layer, const ConvolutionForm& form, const Pointer& picture, KernelWriter& writer,
                   std::vector<Buffer>& constants) {
  const ConvGeometry& g = form.geometry;
  constants.push_back(turned_filters(layer, *form.weights, g.channels, g.kernel_height * g.kernel_width));
  writer.type("T", form.weights->dtype());
  writer.pointer("kIn", "const T", picture);
  writer.pointer("kFilters", "const T", fixed_pointer(constants.back().first));
  writer.divisor("kByWidth", g.out_width);
  writer.divisor("kByHeight", g.out_height);
  writer.number("kHeight", g.height);
  writer.number("kWidth", g.width);
  writer.number("kChannels", g.channels);
  writer.number("kStrideY", g.stride_y);
  writer.number("kStrideX", g.stride_x);
  writer.number("kPadTop", g.pad_top);
  writer.number("kPadLeft", g.pad_left);
  writer.number("kDilationY", g.dilation_y);
  writer.number("kDilationX", g.dilation_x);
  writer.constant("kKernelHeight", g.kernel_height);
  writer.constant("kKernelWidth", g.kernel_width);
}

std::unique_ptr<Kernel> depthwise_kernel(Programs& programs, const Layer& layer) {
  const auto* const form = form_as<ConvolutionForm>(layer);
  if (form == nullptr || !is_depthwise(layer, *form)) return {};
  const ConvGeometry& g = form->geometry;
  std::optional<ElementSite> site = followed_site(layer, form->done, channel_bias(layer, *form));
  const int64_t pack = pack_of(g, form->weights->dtype(), programs.card().multiprocessors());
  if (!site || !site->find_walk(pack)) return {};
  Launches launches;
  KernelWriter writer;
  write_windows(layer, *form, input_pointer(static_cast<size_t>(form->data)), writer, launches.constants);
  const int64_t pieces = g.batch * g.out_height * g.out_width * g.channels / pack;
  writer.constant("kPack", pack);
  writer.number("kPieces", pieces);
  writer.divisor("kByChannels", g.channels / pack);
  const std::string before = std::string(depthwise_window_text()) + finish_text(std::move(*site), writer.launch());
  launches.all.push_back(
      writer.finish(programs, kDepthwiseThreads, blocks_for(pieces, kDepthwiseThreads), depthwise_text(), before));
  return make_kernel(std::move(launches));
}

}  // namespace assay::engine::cuda
