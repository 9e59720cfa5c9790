#include "engine/devices/cpu/winograd/winograd_layers.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "engine/devices/cpu/conv_source.h"
#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/devices/cpu/winograd/term_products.h"
#include "engine/devices/cpu/winograd/weights.h"
#include "engine/devices/cpu/winograd/winograd_plans.h"
#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

// Of the root mean square of results. Sums in float32 have 2e-6, and the rounding of results to bfloat16 0.006.
constexpr double kMostError = 1e-5;
constexpr double kMostErrorOfHalves = 0x1p-6;
constexpr int64_t kBlock = 24;  // tiles: with fewer, the weights take longer to read than to use

template <typename Number>
const WinogradLoopsOfForms<Number>& loops_of() {
  if constexpr (std::is_same_v<Number, uint16_t>)
    return *winograd_half_loops();
  else
    return winograd_transforms().loops;
}

template <typename Number>
class WinogradKernel final : public PlainKernel {
 public:
  WinogradKernel(const Layer& layer, const ConvSource& source, Tape tape, const WinogradPlan& plan)
      : g_(source.geometry),
        bias_(source.bias),
        form_(*plan.form),
        loops_(loops_of<Number>()[form_.index]),
        tiles_(g_, form_),
        terms_(static_cast<int64_t>(form_.terms())),
        tape_(std::move(tape)),
        products_(*layer.packed, *source.weights, form_, kIsHalf ? *pair_kernels() : tile_kernels()),
        in_stages_(plan.in_stages),
        lanes_(thread_count()),
        block_(std::min(kBlock, tiles_.count)),
        zeros_(static_cast<size_t>(g_.channels)) {
    const auto side = static_cast<int64_t>(form_.side);
    if (kIsHalf && bias_ >= 0) {
      const auto numbers = tensor::load_elements<double>(*layer.constants[static_cast<size_t>(bias_)]);
      widened_bias_.assign(numbers.begin(), numbers.end());
    }
    for (int64_t i = 0; i < terms_; ++i) offsets_.push_back((i / side * g_.width + i % side) * g_.channels);
  }

  uint64_t workspace_bytes() const override {
    const int64_t blocks = in_stages_ ? tiles_.count : lanes_ * block_;
    return static_cast<uint64_t>(blocks * terms_ * g_.channels) * sizeof(Number) +
           static_cast<uint64_t>(lanes_ * products_size()) * sizeof(float);
  }

  void run(const Arguments& arguments) const override { in_stages_ ? run_stages(arguments) : run_lanes(arguments); }

 private:
  int64_t products_size() const { return block_ * terms_ * products_.panel_columns(); }
  float* products_of(int64_t lane, const Arguments& arguments) const {
    return host<float>(arguments.workspace) + lane * products_size();
  }
  Number* terms_of(int64_t tile, const Arguments& arguments) const {
    return reinterpret_cast<Number*>(products_of(lanes_, arguments)) + tile * terms_ * g_.channels;
  }

  template <typename Fn>
  void for_lanes(Fn&& fn) const {
    parallel_for(static_cast<uint64_t>(lanes_), 1, [&](uint64_t first, uint64_t last) {
      for (auto lane = static_cast<int64_t>(first); lane < static_cast<int64_t>(last); ++lane) fn(lane);
    });
  }

  void run_lanes(const Arguments& arguments) const {
    for_lanes([&](int64_t lane) {
      const Lane share = lane_of(tiles_.count, lanes_, lane);
      const int64_t blocks = (share.end - share.begin + block_ - 1) / block_;
      for (int64_t i = 0; i < blocks; ++i) {
        const Lane part = lane_of(share.end - share.begin, blocks, i);
        const Lane block = {share.begin + part.begin, share.begin + part.end};
        Number* const terms = terms_of(lane * block_, arguments);
        take_in(block, terms, arguments);
        for (int64_t panel = 0; panel < products_.panel_count(); ++panel) {
          multiply(block, panel, terms, products_of(lane, arguments), arguments);
        }
        append(block, arguments);
      }
    });
  }

  void run_stages(const Arguments& arguments) const {
    const int64_t blocks = (tiles_.count + block_ - 1) / block_;
    for_lanes([&](int64_t lane) {
      const Lane share = lane_of(tiles_.count, lanes_, lane);
      take_in(share, terms_of(share.begin, arguments), arguments);
    });
    for_lanes([&](int64_t lane) {
      const Lane share = lane_of(products_.panel_count() * blocks, lanes_, lane);
      for (int64_t i = share.begin; i < share.end; ++i) {
        const Lane block = lane_of(tiles_.count, blocks, i % blocks);
        multiply(block, i / blocks, terms_of(block.begin, arguments), products_of(lane, arguments), arguments);
      }
    });
    if (tape_.is_empty()) return;
    for_lanes([&](int64_t lane) {
      const Lane pixels = lane_of(g_.batch * g_.out_height * g_.out_width, lanes_, lane);
      run_tape({pixels.begin * g_.out_channels, pixels.end * g_.out_channels}, arguments);
    });
  }

  void take_in(const Lane& tiles, Number* terms, const Arguments& arguments) const {
    const auto channels = static_cast<size_t>(g_.channels);
    const auto side = static_cast<int64_t>(form_.side);
    const auto* const in = host<const Number>(arguments.inputs[0]);
    std::array<const Number*, kMostWinogradTerms> pixels{};
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile, terms += terms_ * g_.channels) {
      const WinogradTiles::Place at = tiles_.place_of(tile);
      const int64_t top = at.y * g_.stride_y - g_.pad_top;
      const int64_t left = at.x * g_.stride_x - g_.pad_left;
      const int64_t first = ((at.image * g_.height + top) * g_.width + left) * g_.channels;
      const bool is_inside = top >= 0 && left >= 0 && top + side <= g_.height && left + side <= g_.width;
      for (int64_t i = 0; i < terms_; ++i) {
        const int64_t y = top + i / side;
        const int64_t x = left + i % side;
        const bool is_there = is_inside || (y >= 0 && y < g_.height && x >= 0 && x < g_.width);
        pixels[static_cast<size_t>(i)] = is_there ? in + first + offsets_[static_cast<size_t>(i)] : zeros_.data();
      }
      loops_.in(pixels.data(), terms, channels, channels);
    }
  }

  // Some tiles by a panel, into pixels.
  void multiply(const Lane& tiles, int64_t panel, const Number* terms, float* products,
                const Arguments& arguments) const {
    products_.run(panel, reinterpret_cast<const float*>(terms), tiles.end - tiles.begin, products);
    const int64_t first = panel * products_.panel_columns();
    const int64_t columns = products_.columns_of(panel);
    const float* const bias = bias_ < 0 ? nullptr : bias_of(arguments) + first;
    std::array<Number*, kMostWinogradTerms> pixels{};
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile, products += terms_ * columns) {
      const WinogradTiles::Place at = tiles_.place_of(tile);
      for (size_t i = 0; i < form_.out * form_.out; ++i) {
        const int64_t y = at.y + static_cast<int64_t>(i) / tiles_.out;
        const int64_t x = at.x + static_cast<int64_t>(i) % tiles_.out;
        const bool is_there = y < g_.out_height && x < g_.out_width;
        pixels[i] = is_there ? host<Number>(arguments.outputs[0]) + element_of(at.image, y, x) + first : nullptr;
      }
      loops_.out(products, static_cast<size_t>(columns), bias, pixels.data(), static_cast<size_t>(columns));
    }
  }

  const float* bias_of(const Arguments& arguments) const {
    return kIsHalf ? widened_bias_.data() : host<const float>(arguments.inputs[static_cast<size_t>(bias_)]);
  }

  int64_t element_of(int64_t image, int64_t y, int64_t x) const {
    return ((image * g_.out_height + y) * g_.out_width + x) * g_.out_channels;
  }

  // What follows in the layer, on whole tiles, line by line.
  void append(const Lane& tiles, const Arguments& arguments) const {
    if (tape_.is_empty()) return;
    for (int64_t tile = tiles.begin; tile < tiles.end;) {
      const WinogradTiles::Place at = tiles_.place_of(tile);
      const int64_t count = std::min(tiles.end - tile, tiles_.across - at.x / tiles_.out);
      const int64_t width = std::min(count * tiles_.out, g_.out_width - at.x);
      for (int64_t y = at.y; y < std::min(at.y + tiles_.out, g_.out_height); ++y) {
        const int64_t element = element_of(at.image, y, at.x);
        run_tape({element, element + width * g_.out_channels}, arguments);
      }
      tile += count;
    }
  }

  void run_tape(const Lane& elements, const Arguments& arguments) const {
    Number* const out = host<Number>(arguments.outputs[0]) + elements.begin;
    tape_.run(out, out, arguments.inputs, elements.begin, elements.end);
  }

  static constexpr bool kIsHalf = std::is_same_v<Number, uint16_t>;

  ConvGeometry g_;
  int bias_;
  std::vector<float> widened_bias_;  // of bfloat16
  const WinogradForm& form_;
  const WinogradLoopsOf<Number>& loops_;
  WinogradTiles tiles_;
  int64_t terms_;
  Tape tape_;
  TermProducts products_;
  bool in_stages_;
  int64_t lanes_;
  int64_t block_;  // tiles
  std::vector<Number> zeros_;
  std::vector<int64_t> offsets_;  // of a tile's pixels from its first
};

std::optional<ConvSource> source_of(const Layer& layer) {
  if (layer.is_strict || !is_convolution(layer)) return std::nullopt;
  std::optional<ConvSource> source = find_conv_source(layer);
  if (!source || !fits_winograd(source->geometry)) return std::nullopt;
  if (layer.inputs[0].dtype == tensor::DType::float32) return source;
  const bool has_known_bias = source->bias < 0 || layer.constants[static_cast<size_t>(source->bias)] != nullptr;
  const bool are_halves = layer.inputs[0].dtype == tensor::DType::bfloat16 && winograd_half_loops() != nullptr;
  return are_halves && has_known_bias ? source : std::nullopt;
}

class WinogradLayers final : public Implementation {
 public:
  std::string_view name() const override { return "conv.winograd"; }

  std::vector<std::string> variants(const Layer& layer) const override {
    std::vector<std::string> names;
    const std::optional<ConvSource> source = source_of(layer);
    if (!source) return names;
    for (const WinogradPlan& plan : winograd_plans(source->geometry, winograd_forms())) names.push_back(plan.name());
    return names;
  }

  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view variant) const override {
    const std::optional<ConvSource> source = source_of(layer);
    if (!source) return {};
    const bool is_half = source->weights->dtype() == tensor::DType::bfloat16;
    const double most = is_half ? kMostErrorOfHalves : kMostError;
    const TileKernels& kernels = is_half ? *pair_kernels() : tile_kernels();
    const auto is_exact = [&](const WinogradForm& form) {  // what is packed was exact enough then
      return layer.packed->has(*source->weights, TermProducts::packed_form(form, kernels)) ||
             winograd_error(form, *source->weights) <= most;
    };
    const std::optional<WinogradPlan> plan = winograd_plan(source->geometry, winograd_forms(), variant, is_exact);
    if (!plan) return {};
    std::optional<Tape> tape = Tape();
    if (layer.nodes.size() > 1) tape = Tape::make(layer, 1, layer.result(layer.nodes[0], 0));
    if (!tape) return {};
    if (is_half) return std::make_unique<WinogradKernel<uint16_t>>(layer, *source, *std::move(tape), *plan);
    return std::make_unique<WinogradKernel<float>>(layer, *source, *std::move(tape), *plan);
  }
};

}  // namespace

std::unique_ptr<Implementation> winograd_layers() { return std::make_unique<WinogradLayers>(); }

}  // namespace assay::engine::cpu
