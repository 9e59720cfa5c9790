#include "engine/devices/cpu/tiles/code_layers.h"

#include <utility>

#include "engine/devices/cpu/conv_source.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/product_source.h"
#include "engine/devices/cpu/tiles/code_product.h"
#include "engine/devices/cpu/tiles/code_rows.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kWholeColumns = 64;

bool are_signed(tensor::DType dtype) { return dtype == tensor::DType::int8; }
bool are_codes(tensor::DType dtype) { return are_signed(dtype) || dtype == tensor::DType::uint8; }

// Sums of weights by column, up to whole panels.
std::vector<int32_t> whole_sums(const tensor::Tensor& weights, size_t axis) {
  const std::vector<int64_t> sums = sums_of_channels(weights, axis);
  std::vector<int32_t> whole(static_cast<size_t>(rounded_up(static_cast<int64_t>(sums.size()), kWholeColumns)));
  for (size_t i = 0; i < sums.size(); ++i) whole[i] = static_cast<int32_t>(sums[i]);
  return whole;
}

// What sums begin with, so that they are of codes less this zero point.
void set_starts(const std::vector<int32_t>& sums, int32_t zero, std::vector<int32_t>& starts) {
  starts.resize(sums.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    starts[i] = static_cast<int32_t>(-static_cast<uint32_t>(zero) * static_cast<uint32_t>(sums[i]));
  }
}

class ProductKernel final : public PlainKernel {
 public:
  ProductKernel(const ProductSource& source, CodeProduct product)
      : left_(static_cast<size_t>(source.geometry.left)),
        rows_(CodeForm::of(source.left_type), source.geometry.rows, source.geometry.depth, source.geometry.left_row),
        is_signed_(are_signed(source.left_type)),
        zero_(source.zero),
        sums_(whole_sums(*source.weights, source.column_axis)),
        product_(std::move(product)) {
    set_starts(sums_, (source.quantized ? source.quantized->quantizer.zero : 0) + CodeProduct::offset(is_signed_),
               starts_);
  }

  uint64_t workspace_bytes() const override { return rows_.workspace_bytes(); }
  void run(const Arguments& arguments) const override {
    if (zero_ < 0) return run_from(arguments, starts_.data());
    const uint8_t byte = *host<const uint8_t>(arguments.inputs[static_cast<size_t>(zero_)]);
    const int32_t zero = is_signed_ ? static_cast<int8_t>(byte) : byte;
    std::vector<int32_t> starts;
    set_starts(sums_, zero + CodeProduct::offset(is_signed_), starts);
    run_from(arguments, starts.data());
  }

 private:
  void run_from(const Arguments& arguments, const int32_t* starts) const {
    const std::byte* const left =
        rows_.prepare(host<const std::byte>(arguments.inputs[left_]), host<std::byte>(arguments.workspace));
    const auto find = [&](int64_t first, int64_t rows, const float** out) {
      for (int64_t i = 0; i < rows; ++i)
        out[i] = reinterpret_cast<const float*>(left + (first + i) * rows_.row_bytes());
    };
    product_.run({arguments, starts, find});
  }

  size_t left_;  // an input of the layer
  CodeMatrix rows_;
  bool is_signed_;
  int zero_;  // an input of the layer; -1: it is known
  std::vector<int32_t> sums_, starts_;
  CodeProduct product_;
};

class CodedMatrices final : public Implementation {
 public:
  std::string_view name() const override { return "product.codes"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<ProductSource> source = find_product_source(layer);
    if (!source || !source->is_integer() || !are_codes(source->left_type)) return {};
    const ProductGeometry& g = source->geometry;
    if (g.item_count() != 1 || g.left_column != 1) return {};
    const CodeShape shape{.are_signed = are_signed(source->left_type),
                          .rows = g.rows,
                          .depth = g.depth,
                          .columns = g.columns,
                          .depth_stride = g.right_row,
                          .column_stride = g.right_column};
    std::optional<IntegerEpilogue> epilogue = source->quantized
                                                  ? IntegerEpilogue::make(layer, *source->quantized, source->done)
                                                  : IntegerEpilogue::make(layer, g.columns, source->done);
    if (!epilogue) return {};
    return std::make_unique<ProductKernel>(*source, CodeProduct(layer, *source->weights, shape, std::move(*epilogue)));
  }
};

class ConvolutionKernel final : public PlainKernel {
 public:
  ConvolutionKernel(const ConvSource& source, CodePictures pictures, CodeProduct product)
      : data_(static_cast<size_t>(source.data)), pictures_(std::move(pictures)), product_(std::move(product)) {
    const Quantizer& quantizer = source.quantized->quantizer;
    set_starts(whole_sums(*source.weights, 0), quantizer.zero + CodeProduct::offset(are_signed(quantizer.codes)),
               starts_);
  }

  uint64_t workspace_bytes() const override { return pictures_.workspace_bytes(); }

  void run(const Arguments& arguments) const override {
    const std::byte* const pictures =
        pictures_.prepare(host<const std::byte>(arguments.inputs[data_]), host<std::byte>(arguments.workspace));
    const auto find = [&](int64_t first, int64_t pixels, const float** out) {
      pictures_.find(pictures, {first, pixels}, out);
    };
    product_.run({arguments, starts_.data(), find});
  }

 private:
  size_t data_;  // an input of the layer
  CodePictures pictures_;
  std::vector<int32_t> starts_;
  CodeProduct product_;
};

class CodedConvolutions final : public Implementation {
 public:
  std::string_view name() const override { return "conv.codes"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<ConvSource> source = find_conv_source(layer);
    if (!source || !source->quantized) return {};
    const ConvGeometry& g = source->geometry;
    if (g.is_transposed || g.groups != 1) return {};
    const int64_t window = g.kernel_height * g.kernel_width;
    const Quantizer& quantizer = source->quantized->quantizer;
    CodePictures pictures(CodeForm::of(quantizer.codes), g, static_cast<std::byte>(quantizer.zero));
    const CodeShape shape{.are_signed = are_signed(quantizer.codes),
                          .rows = g.batch * g.out_height * g.out_width,
                          .steps = window,
                          .depth = g.channels,
                          .columns = g.out_channels,
                          .step_stride = 1,
                          .depth_stride = window,
                          .column_stride = window * g.channels,
                          .joined = pictures.joined()};
    if (!CodeProduct::fits(shape)) return {};
    std::optional<IntegerEpilogue> epilogue = IntegerEpilogue::make(layer, *source->quantized, source->done);
    if (!epilogue) return {};
    return std::make_unique<ConvolutionKernel>(*source, std::move(pictures),
                                               CodeProduct(layer, *source->weights, shape, std::move(*epilogue)));
  }
};

}  // namespace

std::unique_ptr<Implementation> coded_matrices() { return std::make_unique<CodedMatrices>(); }
std::unique_ptr<Implementation> coded_convolutions() { return std::make_unique<CodedConvolutions>(); }

}  // namespace assay::engine::cpu
