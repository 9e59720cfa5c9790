// Convolutions 3 x 3 with fewer multiplications: tiles are transformed by our own loops, their products are oneDNN's.
#include <algorithm>
#include <map>

#include "engine/devices/cpu/conv_source.h"
#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/onednn/kernels.h"
#include "engine/devices/cpu/onednn/operation.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/devices/cpu/winograd/transforms.h"

namespace assay::engine::cpu::onednn {
namespace {

constexpr double kMostError = 1e-5;                   // of the root mean square of results; sums in float32 have 2e-6
constexpr int64_t kBlockBytes = int64_t{640} * 1024;  // of terms and products that a lane keeps in the second cache
constexpr auto kTerms = static_cast<int64_t>(kWinogradTerms);
constexpr auto kOut = static_cast<int64_t>(kWinogradOut);
constexpr auto kIn = static_cast<int64_t>(kWinogradIn);

struct Tiles {
  int64_t down, across, count;  // of a picture, of all pictures
};

Tiles tiles_of(const ConvGeometry& g) {
  const int64_t down = (g.out_height + kOut - 1) / kOut;
  const int64_t across = (g.out_width + kOut - 1) / kOut;
  return {down, across, g.batch * down * across};
}

// A product of `terms` matrices: [tiles, channels] by [channels, out_channels].
struct Products {
  std::shared_ptr<const Operation> operation;
  PackedWeights::Bytes weights;
};

class WinogradKernel final : public Kernel {
 public:
  // In stages: all tiles go through each stage together, and lanes divide the products by terms, so that each reads its
  // part of the weights once. Otherwise lanes divide the tiles and take some through all stages.
  WinogradKernel(const Library& library, const Layer& layer, const ConvGeometry& geometry, Tape tape, bool in_stages)
      : library_(library), g_(geometry), tiles_(tiles_of(geometry)), tape_(std::move(tape)), in_stages_(in_stages) {
    const ir::ValueId bias = layer.operand(layer.nodes[0], 2);
    bias_index_ = bias.valid() ? layer.input_of(bias) : -1;
    lanes_ = std::clamp<int64_t>(static_cast<int64_t>(thread_count()), 1, tiles_.count);
    const int64_t tile_bytes = kTerms * (g_.channels + g_.out_channels) * static_cast<int64_t>(sizeof(float));
    const int64_t share = (tiles_.count + lanes_ - 1) / lanes_;
    block_ = in_stages_ ? tiles_.count : std::clamp<int64_t>(kBlockBytes / tile_bytes, 1, share);
    is_ready_ = in_stages_ ? prepare_stages(layer) : prepare_lanes(layer);
  }

  bool is_ready() const { return is_ready_; }
  uint64_t workspace_bytes() const override {
    const int64_t lanes = in_stages_ ? 1 : lanes_;
    return static_cast<uint64_t>(lanes) * block_bytes() + static_cast<uint64_t>(lanes_) * scratchpad_ + zeros_bytes();
  }
  std::unique_ptr<Call> bind(const Arguments& arguments) const override;

 private:
  friend class WinogradCall;

  uint64_t terms_bytes() const { return static_cast<uint64_t>(kTerms * block_ * g_.channels) * sizeof(float); }
  uint64_t block_bytes() const {
    return terms_bytes() + static_cast<uint64_t>(kTerms * block_ * g_.out_channels) * sizeof(float);
  }
  uint64_t zeros_bytes() const { return static_cast<uint64_t>(g_.channels) * sizeof(float); }

  bool prepare_stages(const Layer& layer) {
    for (int64_t lane = 0; lane < lanes_; ++lane) {
      const Lane terms = lane_of(kTerms, lanes_, lane);
      if (!prepare(layer, block_, terms)) return false;
      by_lane_.push_back(products_.size() - 1);
    }
    return true;
  }

  // Blocks of a lane have as many tiles as fit; its last has the rest.
  bool prepare_lanes(const Layer& layer) {
    for (int64_t lane = 0; lane < lanes_; ++lane) {
      const auto [begin, end] = lane_of(tiles_.count, lanes_, lane);
      for (const int64_t count : {std::min(block_, end - begin), (end - begin) % block_}) {
        if (count == 0 || by_count_.contains(count)) continue;
        if (!prepare(layer, count, {0, kTerms})) return false;
        by_count_[count] = products_.size() - 1;
      }
    }
    return true;
  }

  bool prepare(const Layer& layer, int64_t tiles, Lane terms) {
    const int64_t count = terms.end - terms.begin;
    Operation::Product product;
    product.source = plain_desc(library_, tensor::DType::float32, {count, tiles, g_.channels});
    product.weights = any_desc(library_, tensor::DType::float32, {count, g_.channels, g_.out_channels});
    product.target = plain_desc(library_, tensor::DType::float32, {count, tiles, g_.out_channels});
    std::shared_ptr<const Operation> made = Operation::make(library_, product);
    if (!made) return false;
    scratchpad_ = std::max(scratchpad_, (made->scratchpad_bytes() + 63) / 64 * 64);
    const tensor::Tensor& weights = *layer.constants[1];
    const MadeWeights from{weights, plain_desc(library_, tensor::DType::float32, {count, g_.channels, g_.out_channels}),
                           fmt::format("winograd terms {} to {}", terms.begin, terms.end),
                           [&] { return terms_of(weights, terms); }};
    PackedWeights::Bytes packed = pack(library_, *layer.packed, from, made->weights());
    products_.push_back({std::move(made), std::move(packed)});
    return true;
  }

  std::vector<float> terms_of(const tensor::Tensor& weights, Lane terms) const {
    const auto* const numbers = reinterpret_cast<const float*>(weights.bytes().data());
    std::vector<float> all =
        winograd_weights(numbers, static_cast<size_t>(g_.out_channels), static_cast<size_t>(g_.channels));
    const int64_t matrix = g_.channels * g_.out_channels;
    return {all.begin() + terms.begin * matrix, all.begin() + terms.end * matrix};
  }

  const Library& library_;
  ConvGeometry g_;
  Tiles tiles_;
  Tape tape_;
  bool in_stages_;
  int bias_index_ = -1;
  int64_t lanes_ = 1;
  int64_t block_ = 1;  // tiles
  std::vector<Products> products_;
  std::vector<size_t> by_lane_;         // in stages
  std::map<int64_t, size_t> by_count_;  // otherwise, by number of tiles
  uint64_t scratchpad_ = 0;
  bool is_ready_ = false;
};

class WinogradCall final : public Call {
 public:
  WinogradCall(const WinogradKernel& kernel, const Arguments& arguments) : kernel_(kernel), g_(kernel.g_) {
    for (int64_t lane = 0; lane < kernel.lanes_; ++lane) {
      std::vector<Running>& running = running_.emplace_back();
      for (const Products& products : kernel.products_) running.emplace_back(*products.operation);
    }
    rebind(arguments);
  }

  void rebind(const Arguments& arguments) override {
    arguments_ = arguments;
    const auto blocks = static_cast<uint64_t>(kernel_.in_stages_ ? 1 : kernel_.lanes_);
    Address scratchpad = arguments.workspace + blocks * kernel_.block_bytes();
    for (std::vector<Running>& running : running_) {
      for (size_t i = 0; i < running.size(); ++i) {
        running[i].set(kWeights, kernel_.products_[i].weights.get());
        running[i].set(kScratchpad, host<std::byte>(scratchpad));
      }
      scratchpad = scratchpad + kernel_.scratchpad_;
    }
    zeros_ = host<float>(scratchpad);
  }

  void run() override {
    std::fill_n(zeros_, g_.channels, 0.0F);  // other layers write there, too
    kernel_.in_stages_ ? run_stages() : run_lanes();
  }

 private:
  float* terms(int64_t lane) const {
    return host<float>(arguments_.workspace + static_cast<uint64_t>(lane) * kernel_.block_bytes());
  }
  float* products(int64_t lane) const {
    return host<float>(arguments_.workspace + static_cast<uint64_t>(lane) * kernel_.block_bytes() +
                       kernel_.terms_bytes());
  }

  void run_lanes() {
    parallel_for(running_.size(), 1, [&](uint64_t first, uint64_t last) {
      const OneThread one(kernel_.library_);
      for (auto lane = static_cast<int64_t>(first); lane < static_cast<int64_t>(last); ++lane) {
        const auto [begin, end] = lane_of(kernel_.tiles_.count, kernel_.lanes_, lane);
        for (int64_t tile = begin; tile < end; tile += kernel_.block_) {
          const int64_t count = std::min(kernel_.block_, end - tile);
          take_in(tile, count, 0, count, terms(lane));
          Running& running = running_[static_cast<size_t>(lane)][kernel_.by_count_.at(count)];
          running.set(kSource, terms(lane));
          running.set(kTarget, products(lane));
          running.execute();
          give_out(tile, count, 0, count, products(lane));
        }
      }
    });
  }

  void run_stages() {
    const int64_t count = kernel_.tiles_.count;
    const auto divide = [&](auto&& fn) {
      parallel_for(running_.size(), 1, [&](uint64_t first, uint64_t last) {
        for (auto lane = static_cast<int64_t>(first); lane < static_cast<int64_t>(last); ++lane) fn(lane);
      });
    };
    divide([&](int64_t lane) {
      const auto [begin, end] = lane_of(count, kernel_.lanes_, lane);
      take_in(0, count, begin, end, terms(0));
    });
    divide([&](int64_t lane) {
      const OneThread one(kernel_.library_);
      const int64_t first = lane_of(kTerms, kernel_.lanes_, lane).begin * count;
      Running& running = running_[static_cast<size_t>(lane)][kernel_.by_lane_[static_cast<size_t>(lane)]];
      running.set(kSource, terms(0) + first * g_.channels);
      running.set(kTarget, products(0) + first * g_.out_channels);
      running.execute();
    });
    divide([&](int64_t lane) {
      const auto [begin, end] = lane_of(count, kernel_.lanes_, lane);
      give_out(0, count, begin, end, products(0));
    });
  }

  struct Place {
    int64_t image, y, x;  // of the first pixel of the result
  };
  Place place_of(int64_t tile) const {
    const Tiles& tiles = kernel_.tiles_;
    return {tile / (tiles.down * tiles.across), tile / tiles.across % tiles.down * kOut, tile % tiles.across * kOut};
  }

  // Tiles [begin, end) of a block of `count`, which begins at tile `first`.
  void take_in(int64_t first, int64_t count, int64_t begin, int64_t end, float* terms) const {
    const auto channels = static_cast<size_t>(g_.channels);
    const auto stride = static_cast<size_t>(count) * channels;
    const auto* const in = host<const float>(arguments_.inputs[0]);
    WinogradInPixels pixels{};
    for (int64_t i = begin; i < end; ++i) {
      const Place at = place_of(first + i);
      for (int64_t p = 0; p < kTerms; ++p) {
        const int64_t y = at.y - g_.pad_top + p / kIn;
        const int64_t x = at.x - g_.pad_left + p % kIn;
        const bool is_inside = y >= 0 && y < g_.height && x >= 0 && x < g_.width;
        const float* const pixel = in + ((at.image * g_.height + y) * g_.width + x) * g_.channels;
        pixels[static_cast<size_t>(p)] = is_inside ? pixel : zeros_;
      }
      winograd_transforms().in(pixels, terms + i * g_.channels, stride, channels);
    }
  }

  void give_out(int64_t first, int64_t count, int64_t begin, int64_t end, const float* products) const {
    const auto channels = static_cast<size_t>(g_.out_channels);
    const auto stride = static_cast<size_t>(count) * channels;
    const float* const bias = kernel_.bias_index_ < 0
                                  ? nullptr
                                  : host<const float>(arguments_.inputs[static_cast<size_t>(kernel_.bias_index_)]);
    WinogradOutPixels pixels{};
    for (int64_t i = begin; i < end; ++i) {
      const Place at = place_of(first + i);
      for (int64_t p = 0; p < kOut * kOut; ++p) {
        const int64_t y = at.y + p / kOut;
        const int64_t x = at.x + p % kOut;
        pixels[static_cast<size_t>(p)] = y < g_.out_height && x < g_.out_width ? pixel(at.image, y, x) : nullptr;
      }
      winograd_transforms().out(products + i * g_.out_channels, stride, bias, pixels, channels);
      const bool ends_line = i + 1 == end || place_of(first + i + 1).x == 0;
      if (ends_line && !kernel_.tape_.is_empty()) append(first, begin, i);
    }
  }

  float* pixel(int64_t image, int64_t y, int64_t x) const {
    return host<float>(arguments_.outputs[0]) + ((image * g_.out_height + y) * g_.out_width + x) * g_.out_channels;
  }

  // What follows in the layer, on the line of tiles that ends with tile `last` of the block.
  void append(int64_t first, int64_t begin, int64_t last) const {
    const Place at = place_of(first + last);
    const int64_t line = std::max(begin, last - at.x / kOut);
    const int64_t left = place_of(first + line).x;
    const int64_t right = std::min(at.x + kOut, g_.out_width);
    for (int64_t y = at.y; y < std::min(at.y + kOut, g_.out_height); ++y) {
      float* const out = pixel(at.image, y, left);
      const int64_t element = out - host<float>(arguments_.outputs[0]);
      kernel_.tape_.run(out, out, arguments_.inputs, element, element + (right - left) * g_.out_channels);
    }
  }

  const WinogradKernel& kernel_;
  const ConvGeometry& g_;
  Arguments arguments_;
  std::vector<std::vector<Running>> running_;  // by lane and products
  float* zeros_ = nullptr;
};

std::unique_ptr<Call> WinogradKernel::bind(const Arguments& arguments) const {
  return std::make_unique<WinogradCall>(*this, arguments);
}

bool fits(const ConvGeometry& g) {
  const bool is_3x3 = g.kernel_height == 3 && g.kernel_width == 3 && g.groups == 1;
  const bool is_dense = g.stride_y == 1 && g.stride_x == 1 && g.dilation_y == 1 && g.dilation_x == 1;
  const auto step = static_cast<int64_t>(kWinogradChannels);
  return is_3x3 && is_dense && g.channels % step == 0 && g.out_channels % step == 0;
}

// Where the weights, which become four times as large, are read for few tiles only, nothing is gained.
bool pays(const ConvGeometry& g) {
  constexpr int64_t kLeastTiles = 16;
  constexpr int64_t kLeastChannels = 64;
  return tiles_of(g).count >= kLeastTiles && g.channels >= kLeastChannels && g.out_channels >= kLeastChannels;
}

bool reads_weights_often(const ConvGeometry& g) {
  constexpr int64_t kFewTiles = 64;
  return tiles_of(g).count > kFewTiles;
}

}  // namespace

std::vector<std::string> winograd_variants(const Library&, const Layer&) { return {"lanes", "stages"}; }

std::unique_ptr<Kernel> make_winograd(const Library& library, const Layer& layer, std::string_view variant) {
  if (layer.is_strict || !is_convolution(layer) || !layer.starts_with("Conv") ||
      layer.inputs[0].dtype != tensor::DType::float32)
    return {};
  const std::optional<ConvGeometry> geometry =
      conv_geometry(layer, layer.nodes[0], layer.inputs[0].dims, layer.inputs[1].dims);
  if (!geometry || !fits(*geometry) || (variant.empty() && !pays(*geometry))) return {};
  const auto* const weights = reinterpret_cast<const float*>(layer.constants[1]->bytes().data());
  const double error =
      winograd_error(weights, static_cast<size_t>(geometry->out_channels), static_cast<size_t>(geometry->channels));
  if (!(error <= kMostError)) return {};
  Tape tape;
  if (layer.nodes.size() > 1) {
    std::optional<Tape> made = Tape::make(layer, 1, layer.result(layer.nodes[0], 0));
    if (!made) return {};
    tape = std::move(*made);
  }
  const bool in_stages = variant.empty() ? !reads_weights_often(*geometry) : variant == "stages";
  auto kernel = std::make_unique<WinogradKernel>(library, layer, *geometry, std::move(tape), in_stages);
  if (!kernel->is_ready()) return {};
  return kernel;
}

}  // namespace assay::engine::cpu::onednn
