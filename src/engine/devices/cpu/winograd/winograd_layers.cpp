#include "engine/devices/cpu/winograd/winograd_layers.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "engine/devices/cpu/forms.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/devices/cpu/winograd/term_products.h"
#include "engine/devices/cpu/winograd/trial.h"
#include "engine/devices/cpu/winograd/weights.h"
#include "engine/devices/cpu/winograd/winograd_work.h"
#include "engine/layers/convolution.h"
#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

// True if a form is exact enough with these weights. If few of them rule the others, errors of large tiles have tails
// that a trial does not see.
bool is_exact_enough(const WinogradForm& form, const tensor::Tensor& weights) {
  constexpr double kMostOfHalves = 5 * 0x1p-8;  // of the root mean square of results; their own rounding has 1.5
  constexpr double kMostOfAllowed = 0.5;        // among all results of a layer, errors may be twice as large
  constexpr double kMostKurtosis = 32;
  if (weights.dtype() == tensor::DType::bfloat16) return winograd_errors(form, weights).of_rms <= kMostOfHalves;
  const bool is_small = form.out == 2;
  return (is_small || kurtosis(weights) <= kMostKurtosis) &&
         winograd_errors(form, weights).of_allowed <= kMostOfAllowed;
}

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
  WinogradKernel(const Layer& layer, const ConvolutionForm& source, Tape tape, const WinogradPlan& plan)
      : g_(source.geometry),
        bias_(source.bias),
        form_(*plan.form),
        loops_(loops_of<Number>()[form_.index]),
        work_(g_, plan),
        terms_(static_cast<int64_t>(form_.terms())),
        tape_(std::move(tape)),
        products_(*layer.packed, *source.weights, form_, kIsHalf ? *pair_kernels() : tile_kernels()),
        zeros_(static_cast<size_t>(g_.channels)) {
    if (kIsHalf && bias_ >= 0) {
      const auto numbers = tensor::load_elements<double>(*layer.constants[static_cast<size_t>(bias_)]);
      widened_bias_.assign(numbers.begin(), numbers.end());
    }
  }

  uint64_t workspace_bytes() const override {
    return static_cast<uint64_t>(work_.places() * terms_ * g_.channels) * sizeof(Number) +
           static_cast<uint64_t>(work_.lanes() * products_size()) * sizeof(float);
  }

  void run(const Arguments& arguments) const override {
    const auto take = [&](const Lane& tiles, int64_t place) { take_in(tiles, terms_of(place, arguments), arguments); };
    const auto multiply_block = [&](const WinogradWork::Block& block) { multiply(block, arguments); };
    const auto end = [&](const Lane& tiles) { append(tiles, arguments); };
    work_.run(products_.panel_count(), {take, multiply_block, end});
    if (!work_.in_stages() || tape_.is_empty()) return;
    work_.for_lanes([&](int64_t lane) {
      const Lane pixels = lane_of(g_.batch * g_.out_height * g_.out_width, work_.lanes(), lane);
      run_tape({pixels.begin * g_.out_channels, pixels.end * g_.out_channels}, arguments);
    });
  }

 private:
  int64_t products_size() const { return work_.block() * terms_ * products_.panel_columns(); }
  float* products_of(int64_t lane, const Arguments& arguments) const {
    return host<float>(arguments.workspace) + lane * products_size();
  }
  Number* terms_of(int64_t tile, const Arguments& arguments) const {
    return reinterpret_cast<Number*>(products_of(work_.lanes(), arguments)) + tile * terms_ * g_.channels;
  }

  void take_in(const Lane& tiles, Number* terms, const Arguments& arguments) const {
    const auto channels = static_cast<size_t>(g_.channels);
    const auto* const in = host<const Number>(arguments.inputs[0]);
    std::array<const Number*, kMostWinogradTerms> pixels{};
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile, terms += terms_ * g_.channels) {
      work_.find_pixels(tile, in, zeros_.data(), pixels.data());
      loops_.in(pixels.data(), terms, channels, channels);
    }
  }

  // Some tiles by a panel, into pixels.
  void multiply(const WinogradWork::Block& block, const Arguments& arguments) const {
    const auto& [lane, tiles, panel, place] = block;
    float* products = products_of(lane, arguments);
    products_.run(panel, reinterpret_cast<const float*>(terms_of(place, arguments)), tiles.end - tiles.begin, products);
    const int64_t first = panel * products_.panel_columns();
    const int64_t columns = products_.columns_of(panel);
    const float* const bias = bias_ < 0 ? nullptr : bias_of(arguments) + first;
    std::array<Number*, kMostWinogradTerms> pixels{};
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile, products += terms_ * columns) {
      const WinogradTiles::Place at = work_.tiles().place_of(tile);
      for (size_t i = 0; i < form_.out * form_.out; ++i) {
        const int64_t y = at.y + static_cast<int64_t>(i) / work_.tiles().out;
        const int64_t x = at.x + static_cast<int64_t>(i) % work_.tiles().out;
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

  // Appends the rest of the layer, on whole tiles, line by line.
  void append(const Lane& tiles, const Arguments& arguments) const {
    if (tape_.is_empty()) return;
    for (int64_t tile = tiles.begin; tile < tiles.end;) {
      const WinogradTiles::Place at = work_.tiles().place_of(tile);
      const int64_t count = std::min(tiles.end - tile, work_.tiles().across - at.x / work_.tiles().out);
      const int64_t width = std::min(count * work_.tiles().out, g_.out_width - at.x);
      for (int64_t y = at.y; y < std::min(at.y + work_.tiles().out, g_.out_height); ++y) {
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
  WinogradWork work_;
  int64_t terms_;
  Tape tape_;
  TermProducts products_;
  std::vector<Number> zeros_;
};

const ConvolutionForm* source_of(const Layer& layer) {
  const ConvolutionForm* const source = layer.is_strict ? nullptr : convolution_of(layer);
  if (source == nullptr || source->is_integer() || !fits_winograd(source->geometry)) return nullptr;
  if (layer.inputs[0].dtype == tensor::DType::float32) return source;
  const bool has_known_bias = source->bias < 0 || layer.constants[static_cast<size_t>(source->bias)] != nullptr;
  const bool are_halves = layer.inputs[0].dtype == tensor::DType::bfloat16 && winograd_half_loops() != nullptr;
  return are_halves && has_known_bias ? source : nullptr;
}

class WinogradLayers final : public Implementation {
 public:
  std::string_view name() const override { return "conv.winograd"; }
  bool yields(const Layer& layer) const override { return multiplies_on_tiles(layer); }

  std::vector<std::string> variants(const Layer& layer) const override {
    std::vector<std::string> names;
    const ConvolutionForm* const source = source_of(layer);
    if (!source) return names;
    for (const WinogradPlan& plan : winograd_plans(source->geometry, winograd_forms())) names.push_back(plan.name());
    return names;
  }

  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view variant) const override {
    const ConvolutionForm* const source = source_of(layer);
    if (!source) return {};
    const bool is_half = source->weights->dtype() == tensor::DType::bfloat16;
    const TileKernels& kernels = is_half ? *pair_kernels() : tile_kernels();
    const auto is_exact = [&](const WinogradForm& form) {  // packed forms were exact enough when they were made
      return layer.packed->has(*source->weights, TermProducts::packed_form(form, kernels)) ||
             is_exact_enough(form, *source->weights);
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
