// Products and convolutions of integers, exact in int32 before they become floats, and products of float8.
#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/tiles/tiled.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {
namespace {

constexpr tensor::DType kFloat8 = tensor::DType::float8e4m3fn;

bool are_codes(tensor::DType dtype) { return dtype == tensor::DType::int8 || dtype == tensor::DType::uint8; }

// Facts that products and convolutions of integers have in common.
struct Codes {
  const std::optional<QuantizedProduct>& quantized;
  bool is_sum;
  int zero;  // an input; -1: the quantizer knows it
  const std::vector<int32_t>& weight_zeros;
  const tensor::Tensor& weights;
  size_t axis;  // of the columns in the weights
  size_t done;
  bool is_picture;

  int32_t known_zero() const { return quantized ? quantized->quantizer.zero : 0; }
};

class Integers : public Tiled {
 public:
  using Tiled::Tiled;

 protected:
  // Sets the corrections of the sums, and returns the site that takes them.
  std::optional<ElementSite> finish(const Layer& layer, const Codes& codes, bool packs, TileProduct& product) const {
    if (codes.weights.dtype() != tensor::DType::int8 && codes.weights.dtype() != kFloat8) return std::nullopt;
    if (codes.zero >= 0 && !are_codes(layer.inputs[static_cast<size_t>(codes.zero)].dtype)) return std::nullopt;
    product.zero_code = codes.known_zero();
    if (packs) {
      add_corrections(layer, codes, product);
      add_weight_zeros(codes, product);
    }
    if (layer.outputs[0].dtype == tensor::DType::int32) {
      product.gives_integers = true;
      if (!codes.is_sum || layer.nodes.size() != codes.done) return std::nullopt;
      return whole_site(layer);
    }
    if (!codes.quantized) return followed_site(layer, codes.done, {});
    return scaled_site(layer, codes, packs, product);
  }

 private:
  void add_corrections(const Layer& layer, const Codes& codes, TileProduct& product) const {
    if (codes.zero < 0 && codes.known_zero() == 0) return;
    std::vector<int32_t> starts;
    for (const int64_t sum : sums_of_channels(codes.weights, codes.axis)) {
      const int64_t factor = codes.zero < 0 ? codes.known_zero() : 1;
      starts.push_back(static_cast<int32_t>(-factor * sum));
    }
    product.constants.push_back(programs().upload(std::as_bytes(std::span(starts))));
    product.starts = fixed_pointer(product.constants.back().first);
    if (codes.zero < 0) return;
    product.zero = input_pointer(static_cast<size_t>(codes.zero));
    product.zero_type = layer.inputs[static_cast<size_t>(codes.zero)].dtype;
  }

  void add_weight_zeros(const Codes& codes, TileProduct& product) const {
    if (codes.weight_zeros.empty()) return;
    product.constants.push_back(programs().upload(std::as_bytes(std::span(codes.weight_zeros))));
    product.weight_zeros = fixed_pointer(product.constants.back().first);
  }

  // Whole numbers as they are.
  static ElementSite whole_site(const Layer& layer) {
    ElementText text{
        .statements = "    const auto made = plain;\n", .numbers = {}, .is_exact = true, .type = tensor::DType::int32};
    return {std::move(text), {}, {output_pointer(0), layer.outputs[0]}};
  }

  // Sums times the scales of data and column, plus the bias, before what follows.
  std::optional<ElementSite> scaled_site(const Layer& layer, const Codes& codes, bool packs,
                                         TileProduct& product) const {
    const QuantizedProduct& quantized = *codes.quantized;
    if (quantized.is_of_float8() && quantized.scales.size() == 1 && quantized.bias.empty())
      return scaled_followed_site(layer, codes.done, quantized.quantizer.scale * quantized.scales[0]);
    const auto columns = static_cast<size_t>(product.item_count() * product.columns);
    std::vector<float> factors(columns), bias(columns, 0.0F);
    for (size_t i = 0; i < columns; ++i) {
      factors[i] = quantized.quantizer.scale * quantized.scales[quantized.scales.size() == 1 ? 0 : i];
      if (!quantized.bias.empty()) bias[i] = quantized.bias[i];
    }
    std::vector<ElementOperand> tables;
    for (const std::vector<float>& numbers : {factors, bias}) {
      Pointer pointer;
      if (packs) {
        product.constants.push_back(programs().upload(std::as_bytes(std::span(numbers))));
        pointer = fixed_pointer(product.constants.back().first);
      }
      const TensorDesc desc = make_desc(tensor::DType::float32, {static_cast<int64_t>(columns)});
      tables.push_back({pointer, codes.is_picture ? along_channels(desc, layer.outputs[0]) : desc});
    }
    return scaled_followed_site(layer, codes.done, tables[0], tables[1]);
  }
};

class CodedMatrices final : public Integers {
 public:
  using Integers::Integers;
  std::string_view name() const override { return "product.codes"; }

 private:
  std::optional<Found> find(const Layer& layer, bool packs) const override {
    const auto* const form = form_as<ProductForm>(layer);
    if (form == nullptr || !form->is_integer()) return std::nullopt;
    if (!are_codes(form->left_type) && form->left_type != kFloat8) return std::nullopt;
    const std::optional<ProductGeometry> g = product_geometry(layer, *form);
    if (!g || g->item_count() != 1) return std::nullopt;
    TileProduct product{.type = form->left_type,
                        .rows = g->rows,
                        .columns = g->columns,
                        .depth = g->depth,
                        .items = {1},
                        .left = {input_pointer(static_cast<size_t>(form->left)), g->left_row, g->left_column, {0}}};
    set_right(layer, *form->weights, *g, packs, product);
    const Codes codes{form->quantized, form->is_sum,      form->zero, form->weight_zeros,
                      *form->weights,  form->column_axis, form->done, false};
    std::optional<ElementSite> site = finish(layer, codes, packs, product);
    if (!site) return std::nullopt;
    return Found{std::move(product), std::move(*site)};
  }
};

class CodedWindows final : public Integers {
 public:
  using Integers::Integers;
  std::string_view name() const override { return "conv.codes"; }

 private:
  std::optional<Found> find(const Layer& layer, bool packs) const override {
    const auto* const form = form_as<ConvolutionForm>(layer);
    if (form == nullptr || !form->is_integer()) return std::nullopt;
    const ConvGeometry& g = form->geometry;
    const bool has_padding = g.pad_top != 0 || g.pad_left != 0 || g.pad_bottom != 0 || g.pad_right != 0;
    if (!are_codes(layer.inputs[static_cast<size_t>(form->data)].dtype) || (form->zero >= 0 && has_padding)) return {};
    std::optional<TileProduct> product = window_product(layer, *form, packs);
    if (!product) return std::nullopt;
    const Codes codes{form->quantized, form->is_sum, form->zero, form->weight_zeros, *form->weights, 0,
                      form->done,      true};
    std::optional<ElementSite> site = finish(layer, codes, packs, *product);
    if (!site) return std::nullopt;
    return Found{std::move(*product), std::move(*site)};
  }
};

}  // namespace

KernelFamily cuda_kernel_codes() { return family_of<CodedWindows, CodedMatrices>(); }

}  // namespace assay::engine::cuda
