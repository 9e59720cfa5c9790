#include "engine/devices/cpu/depthwise/depthwise_layers.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/depthwise/depthwise_convolution.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/forms.h"
#include "engine/devices/cpu/parts.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kLeastBlock = 64;                  // channels, as words of codes take them
constexpr int64_t kLeastPieces = 16;                 // so that threads get equally many
constexpr int64_t kTogether = 2;                     // lines
constexpr int64_t kPieceWork = int64_t{100} * 1000;  // multiplications

class DepthwiseKernel final : public PlainKernel {
 public:
  explicit DepthwiseKernel(DepthwiseConvolution convolution)
      : convolution_(std::move(convolution)), g_(convolution_.geometry()) {
    const int64_t lines = g_.batch * g_.out_height;
    blocks_ = std::clamp<int64_t>(parts_of(kLeastPieces, lines), 1, parts_of(g_.out_channels, kLeastBlock));
    const int64_t line_work = g_.out_width * g_.out_channels / blocks_ * g_.kernel_height * g_.kernel_width;
    const int64_t pairs = parts_of(g_.out_height, kTogether);
    bands_ = lines < kLeastPieces ? pairs : std::clamp<int64_t>(g_.out_height * line_work / kPieceWork, 1, pairs);
  }

  void run(const Arguments& arguments) const override {
    const auto* const in = host<const std::byte>(arguments.inputs[convolution_.data()]);
    const int64_t image_bytes = g_.height * g_.width * g_.channels * convolution_.bytes();
    parallel_for(static_cast<uint64_t>(g_.batch * bands_ * blocks_), 1, [&](uint64_t begin, uint64_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const Lane band = lane_of(g_.out_height, bands_, i / blocks_ % bands_, kTogether);
        const Lane channels = lane_of(g_.out_channels, blocks_, i % blocks_, kLeastBlock);
        const int64_t image = i / blocks_ / bands_;
        convolution_.run(in + image * image_bytes, arguments, {image, band, channels});
      }
    });
  }

 private:
  DepthwiseConvolution convolution_;
  const ConvGeometry& g_;
  int64_t bands_ = 1;   // of lines
  int64_t blocks_ = 1;  // of channels, where there are few lines
};

class DepthwiseLayers final : public Implementation {
 public:
  std::string_view name() const override { return "conv.depthwise"; }
  bool yields(const Layer& layer) const override { return multiplies_on_tiles(layer); }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    std::optional<DepthwiseConvolution> convolution = DepthwiseConvolution::make(layer);
    if (!convolution) return {};
    return std::make_unique<DepthwiseKernel>(*std::move(convolution));
  }
};

}  // namespace

std::unique_ptr<Implementation> depthwise_layers() { return std::make_unique<DepthwiseLayers>(); }

}  // namespace assay::engine::cpu
