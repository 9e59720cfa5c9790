#include "engine/devices/cpu/winograd/exact_layers.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/devices/cpu/forms.h"
#include "engine/devices/cpu/integers/integer_epilogue.h"
#include "engine/devices/cpu/tiles/code_zeros.h"
#include "engine/devices/cpu/winograd/exact_forms.h"
#include "engine/devices/cpu/winograd/term_products.h"
#include "engine/devices/cpu/winograd/weights.h"
#include "engine/devices/cpu/winograd/winograd_work.h"
#include "engine/layers/convolution.h"

namespace assay::engine::cpu {
namespace {

class ExactKernel final : public PlainKernel {
 public:
  ExactKernel(const Layer& layer, const ConvolutionForm& source, const WinogradPlan& plan, IntegerEpilogue epilogue)
      : data_(static_cast<size_t>(source.data)),
        g_(source.geometry),
        form_(*plan.form),
        loops_((*exact_loops())[form_.index]),
        work_(g_, plan),
        terms_(static_cast<int64_t>(form_.terms())),
        zeros_({.data_type = layer.inputs[data_].dtype,
                .zero = source.known_zero(),
                .input = source.zero,
                .weights = source.weights,
                .axis = 0,
                .zeros = &source.weight_zeros}),
        epilogue_(std::move(epilogue)),
        products_(*layer.packed, *source.weights, form_, *wide_code_kernels()) {}

  // Padding, then what products and sums of each lane take, then terms.
  uint64_t workspace_bytes() const override {
    return static_cast<uint64_t>(padding_bytes() + work_.lanes() * lane_bytes() + work_.places() * tile_bytes());
  }

  void run(const Arguments& arguments) const override {
    const int32_t zero = zeros_.of_data(arguments);
    std::fill_n(host<std::byte>(arguments.workspace), padding_bytes(), static_cast<std::byte>(zero));
    std::vector<int32_t> made;
    const Given given = {arguments, zeros_.plain_starts(zero, made)};
    const auto take = [&](const Lane& tiles, int64_t place) { take_in(tiles, terms_of(place, arguments), arguments); };
    const auto multiply_block = [&](const WinogradWork::Block& block) { multiply(block, given); };
    const auto end = [](const Lane&) {};
    work_.run(products_.panel_count(), {take, multiply_block, end});
  }

 private:
  struct Given {
    const Arguments& arguments;
    const int32_t* starts;  // of sums, by channel of the result
  };

  int64_t padding_bytes() const { return (g_.channels + 63) / 64 * 64; }
  int64_t tile_bytes() const { return terms_ * g_.channels * static_cast<int64_t>(sizeof(int16_t)); }
  // The numbers of a block by a panel.
  int64_t product_count() const { return work_.block() * terms_ * products_.panel_columns(); }
  int64_t sum_count() const {
    return work_.block() * work_.tiles().out * work_.tiles().out * products_.panel_columns();
  }
  int64_t lane_bytes() const { return (product_count() + sum_count()) * static_cast<int64_t>(sizeof(int32_t)); }

  int32_t* products_of(int64_t lane, const Arguments& arguments) const {
    return host<int32_t>(arguments.workspace + static_cast<uint64_t>(padding_bytes() + lane * lane_bytes()));
  }
  int16_t* terms_of(int64_t tile, const Arguments& arguments) const {
    const int64_t bytes = padding_bytes() + work_.lanes() * lane_bytes() + tile * tile_bytes();
    return host<int16_t>(arguments.workspace + static_cast<uint64_t>(bytes));
  }

  void take_in(const Lane& tiles, int16_t* terms, const Arguments& arguments) const {
    const auto channels = static_cast<size_t>(g_.channels);
    const auto* const in = host<const std::byte>(arguments.inputs[data_]);
    const auto* const padding = host<const std::byte>(arguments.workspace);
    std::array<const std::byte*, kMostWinogradTerms> pixels{};
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile, terms += terms_ * g_.channels) {
      work_.find_pixels(tile, in, padding, pixels.data());
      loops_.in(pixels.data(), zeros_.are_signed(), terms, channels, channels);
    }
  }

  // Some tiles by a panel, into the layer's result: those that stand side by side become lines of sums.
  void multiply(const WinogradWork::Block& block, const Given& given) const {
    const auto& [lane, tiles, panel, place] = block;
    int32_t* const products = products_of(lane, given.arguments);
    products_.run(panel, reinterpret_cast<const float*>(terms_of(place, given.arguments)), tiles.end - tiles.begin,
                  reinterpret_cast<float*>(products));
    IntegerEpilogue::Run epilogue(epilogue_, given.arguments);
    const int64_t columns = products_.columns_of(panel);
    int32_t* const sums = products + product_count();
    for (int64_t tile = tiles.begin; tile < tiles.end;) {
      const WinogradTiles::Place at = work_.tiles().place_of(tile);
      const int64_t count = std::min(tiles.end - tile, work_.tiles().across - at.x / work_.tiles().out);
      const int64_t line = count * work_.tiles().out * columns;
      for (int64_t i = 0; i < count; ++i) {
        loops_.out({.terms = products + (tile - tiles.begin + i) * terms_ * columns,
                    .stride = static_cast<size_t>(columns),
                    .starts = given.starts + panel * products_.panel_columns(),
                    .sums = sums + i * work_.tiles().out * columns,
                    .pixel = static_cast<size_t>(columns),
                    .line = static_cast<size_t>(line),
                    .columns = static_cast<size_t>(columns)});
      }
      finish(at, std::min(count * work_.tiles().out, g_.out_width - at.x), panel, sums, line, epilogue);
      tile += count;
    }
  }

  void finish(const WinogradTiles::Place& at, int64_t width, int64_t panel, int32_t* sums, int64_t line,
              IntegerEpilogue::Run& epilogue) const {
    const int64_t channel = panel * products_.panel_columns();
    const int64_t columns = products_.columns_of(panel);
    for (int64_t y = at.y; y < std::min(at.y + work_.tiles().out, g_.out_height); ++y, sums += line) {
      const int64_t pixel = (at.image * g_.out_height + y) * g_.out_width + at.x;
      epilogue.finish({.sums = sums,
                       .sums_row = columns,
                       .rows = width,
                       .channel = channel,
                       .channels = columns,
                       .first = pixel * g_.out_channels + channel,
                       .pitch = g_.out_channels});
    }
  }

  size_t data_;  // an input of the layer
  ConvGeometry g_;
  const WinogradForm& form_;
  const ExactLoops& loops_;
  WinogradWork work_;
  int64_t terms_;
  CodeZeros zeros_;
  IntegerEpilogue epilogue_;
  TermProducts products_;
};

const ConvolutionForm* source_of(const Layer& layer) {
  if (exact_loops() == nullptr || wide_code_kernels() == nullptr) return nullptr;
  const ConvolutionForm* const source = convolution_of(layer);
  if (source == nullptr || !source->is_integer() || !source->weight_zeros.empty()) return nullptr;
  const tensor::DType codes = layer.inputs[static_cast<size_t>(source->data)].dtype;
  const bool are_codes = codes == tensor::DType::int8 || codes == tensor::DType::uint8;
  return are_codes && fits_winograd(source->geometry) ? source : nullptr;
}

class ExactLayers final : public Implementation {
 public:
  std::string_view name() const override { return "conv.winograd_codes"; }

  std::vector<std::string> variants(const Layer& layer) const override {
    std::vector<std::string> names;
    const ConvolutionForm* const source = source_of(layer);
    if (!source) return names;
    for (const WinogradPlan& plan : winograd_plans(source->geometry, exact_forms())) names.push_back(plan.name());
    return names;
  }

  // True if four products are summed at once: direct sums are nearly as fast then.
  bool yields(const Layer&) const override { return code_kernels(false).codes == 4; }

  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view variant) const override {
    const ConvolutionForm* const source = source_of(layer);
    if (!source) return {};
    const bool are_signed = layer.inputs[static_cast<size_t>(source->data)].dtype == tensor::DType::int8;
    const auto is_exact = [&](const WinogradForm& form) {
      return fits_exactly((*exact_loops())[form.index], *source->weights, are_signed);
    };
    const std::optional<WinogradPlan> plan = winograd_plan(source->geometry, exact_forms(), variant, is_exact);
    if (!plan) return {};
    std::optional<IntegerEpilogue> epilogue =
        IntegerEpilogue::make(layer, source->quantized, source->geometry.out_channels, source->done);
    if (!epilogue) return {};
    return std::make_unique<ExactKernel>(layer, *source, *plan, std::move(*epilogue));
  }
};

}  // namespace

std::unique_ptr<Implementation> exact_winograd_layers() { return std::make_unique<ExactLayers>(); }

}  // namespace assay::engine::cpu
