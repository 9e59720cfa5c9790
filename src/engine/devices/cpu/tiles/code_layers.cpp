#include "engine/devices/cpu/tiles/code_layers.h"

#include <utility>

#include "base/parallel.h"
#include "engine/devices/cpu/forms.h"
#include "engine/devices/cpu/tiles/code_product.h"
#include "engine/devices/cpu/tiles/code_rows.h"
#include "engine/devices/cpu/tiles/code_sums.h"
#include "engine/devices/cpu/tiles/code_zeros.h"
#include "engine/layers/convolution.h"
#include "engine/layers/product.h"

namespace assay::engine::cpu {
namespace {

constexpr uint64_t kAligned = 64;

bool are_signed(tensor::DType dtype) { return dtype == tensor::DType::int8; }
bool are_codes(tensor::DType dtype) { return are_signed(dtype) || dtype == tensor::DType::uint8; }

// The offset behind so many bytes of the workspace, at which sums of rows lie.
uint64_t behind(uint64_t bytes) { return (bytes + kAligned - 1) / kAligned * kAligned; }

class ProductKernel final : public PlainKernel {
 public:
  ProductKernel(const LocatedProduct& found, CodeProduct product)
      : g_(found.geometry),
        rows_(CodeForm::of(found.form.left_type), g_.rows, g_.depth, g_.left_row),
        zeros_({.data_type = found.form.left_type,
                .zero = found.form.quantized ? found.form.quantized->quantizer.zero : 0,
                .input = found.form.zero,
                .weights = found.form.weights,
                .axis = found.form.column_axis,
                .zeros = &found.form.weight_zeros}),
        product_(std::move(product)) {}

  uint64_t workspace_bytes() const override {
    const uint64_t bytes = rows_.workspace_bytes();
    if (zeros_.row_factors() == nullptr) return bytes;
    return behind(bytes) + static_cast<uint64_t>(g_.rows) * sizeof(int32_t);
  }

  void run(const Arguments& arguments) const override {
    const auto* const codes = host<const std::byte>(arguments.inputs[static_cast<size_t>(g_.left)]);
    auto* const workspace = host<std::byte>(arguments.workspace);
    const int32_t zero = zeros_.of_data(arguments);
    std::vector<int32_t> starts;
    const bool by_rows = rows_.copies_rows() && product_.reads_rows_once();
    const std::byte* const left = rows_.prepare(codes, workspace, by_rows);
    const auto prepare_rows = [&](int64_t first, int64_t rows) { rows_.prepare_rows(codes, first, rows, workspace); };
    const FunctionRef<void(int64_t first, int64_t rows)> prepare(prepare_rows);
    const auto find = [&](int64_t first, int64_t rows, const float** out) {
      for (int64_t i = 0; i < rows; ++i)
        out[i] = reinterpret_cast<const float*>(left + (first + i) * rows_.row_bytes());
    };
    int32_t* sums = nullptr;
    if (zeros_.row_factors() != nullptr) {
      sums = reinterpret_cast<int32_t*>(workspace + behind(rows_.workspace_bytes()));
      sum_rows({codes, g_.rows, g_.depth, g_.left_row, zeros_.are_signed(), zero}, sums);
    }
    product_.run(
        {arguments, zeros_.starts(zero, starts), sums, zeros_.row_factors(), find, by_rows ? &prepare : nullptr});
  }

 private:
  ProductGeometry g_;
  CodeMatrix rows_;
  CodeZeros zeros_;
  CodeProduct product_;
};

class CodedMatrices final : public Implementation {
 public:
  std::string_view name() const override { return "product.codes"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<LocatedProduct> found = product_of(layer);
    if (!found || !found->form.is_integer() || !are_codes(found->form.left_type)) return {};
    const ProductForm& form = found->form;
    const ProductGeometry& g = found->geometry;
    if (g.item_count() != 1 || g.left_column != 1) return {};
    const CodeShape shape{.are_signed = are_signed(form.left_type),
                          .rows = g.rows,
                          .depth = g.depth,
                          .columns = g.columns,
                          .depth_stride = g.right_row,
                          .column_stride = g.right_column,
                          .all_columns = g.columns};
    std::optional<IntegerEpilogue> epilogue = IntegerEpilogue::make(layer, form.quantized, g.columns, form.done);
    if (!epilogue) return {};
    return std::make_unique<ProductKernel>(*found, CodeProduct(layer, *form.weights, shape, std::move(*epilogue)));
  }
};

class ConvolutionKernel final : public PlainKernel {
 public:
  // Takes one product for each group of channels.
  ConvolutionKernel(const ConvolutionForm& source, tensor::DType codes, CodePictures pictures,
                    std::vector<CodeProduct> products)
      : data_(static_cast<size_t>(source.data)),
        has_known_zero_(source.zero < 0),
        g_(source.geometry),
        form_(CodeForm::of(codes)),
        pictures_(std::move(pictures)),
        window_sums_(g_),
        zeros_({.data_type = codes,
                .zero = source.known_zero(),
                .input = source.zero,
                .weights = source.weights,
                .axis = 0,
                .zeros = &source.weight_zeros}),
        products_(std::move(products)) {}

  uint64_t workspace_bytes() const override {
    const uint64_t bytes = pictures_.workspace_bytes();
    return zeros_.row_factors() == nullptr ? bytes : behind(bytes) + window_sums_.workspace_bytes();
  }

  void run(const Arguments& arguments) const override {
    if (has_known_zero_) return run_on(pictures_, arguments);
    run_on(CodePictures(form_, g_, static_cast<std::byte>(zeros_.of_data(arguments))), arguments);
  }

 private:
  void run_on(const CodePictures& pictures, const Arguments& arguments) const {
    const auto* const codes = host<const std::byte>(arguments.inputs[data_]);
    auto* const workspace = host<std::byte>(arguments.workspace);
    const int32_t zero = zeros_.of_data(arguments);
    std::vector<int32_t> made;
    const int32_t* const starts = zeros_.starts(zero, made);
    const int32_t* const factors = zeros_.row_factors();
    const int32_t* sums = nullptr;
    if (factors != nullptr)
      sums = window_sums_.run(codes, zeros_.are_signed(), zero, workspace + behind(pictures.workspace_bytes()));
    const bool by_pixels = pictures.copies_pixels() && products_.size() == 1 && products_[0].reads_rows_once();
    const std::byte* const prepared = pictures.prepare(codes, workspace, by_pixels);
    const auto prepare_pixels = [&](int64_t first, int64_t pixels) {
      pictures.prepare_pixels(codes, {first, pixels}, workspace);
    };
    const FunctionRef<void(int64_t first, int64_t rows)> prepare(prepare_pixels);
    parallel_for(products_.size(), 1, [&](uint64_t begin, uint64_t end) {
      for (auto group = static_cast<int64_t>(begin); group < static_cast<int64_t>(end); ++group) {
        const int64_t column = group * (g_.out_channels / g_.groups);
        const auto find = [&](int64_t first, int64_t pixels, const float** out) {
          pictures.find(prepared, {first, pixels}, out);
          if (group > 0) move_to(group, pixels, out);
        };
        products_[static_cast<size_t>(group)].run(
            {arguments, starts + column, sums == nullptr ? sums : sums + group * window_sums_.of_group(),
             factors == nullptr ? factors : factors + column, find, by_pixels ? &prepare : nullptr});
      }
    });
  }

  // From the first channels of pixels to those of a group.
  void move_to(int64_t group, int64_t pixels, const float** places) const {
    const int64_t bytes = group * (g_.channels / g_.groups) * form_.bytes();
    for (int64_t i = 0; i < pixels * g_.kernel_height * g_.kernel_width; ++i)
      places[i] = reinterpret_cast<const float*>(reinterpret_cast<const std::byte*>(places[i]) + bytes);
  }

  size_t data_;  // an input of the layer
  bool has_known_zero_;
  ConvGeometry g_;
  CodeForm form_;
  CodePictures pictures_;
  WindowSums window_sums_;
  CodeZeros zeros_;
  std::vector<CodeProduct> products_;
};

class CodedConvolutions final : public Implementation {
 public:
  explicit CodedConvolutions(bool in_groups) : in_groups_(in_groups) {}
  std::string_view name() const override { return in_groups_ ? "conv.codes_in_groups" : "conv.codes"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const ConvolutionForm* const source = convolution_of(layer);
    if (source == nullptr || !source->is_integer()) return {};
    const ConvGeometry& g = source->geometry;
    const tensor::DType codes = layer.inputs[static_cast<size_t>(source->data)].dtype;
    const bool is_by_channel = g.groups > 1 && g.groups == g.channels && g.out_channels == g.channels;
    if (g.is_transposed || (g.groups > 1) != in_groups_ || is_by_channel || !are_codes(codes)) return {};
    CodePictures pictures(CodeForm::of(codes), g, static_cast<std::byte>(source->known_zero()));
    const std::optional<IntegerEpilogue> epilogue =
        IntegerEpilogue::make(layer, source->quantized, g.out_channels, source->done);
    if (!epilogue) return {};
    std::vector<CodeProduct> products;
    for (int64_t group = 0; group < g.groups; ++group) {
      const CodeShape shape = shape_of(g, are_signed(codes), pictures.joined(), group);
      if (!CodeProduct::fits(shape)) return {};
      products.emplace_back(layer, *source->weights, shape, *epilogue);
    }
    return std::make_unique<ConvolutionKernel>(*source, codes, std::move(pictures), std::move(products));
  }

 private:
  // The shape for the channels of a group.
  static CodeShape shape_of(const ConvGeometry& g, bool are_signed, int64_t joined, int64_t group) {
    const int64_t window = g.kernel_height * g.kernel_width;
    const int64_t depth = g.channels / g.groups;
    const int64_t columns = g.out_channels / g.groups;
    return {.are_signed = are_signed,
            .rows = g.batch * g.out_height * g.out_width,
            .steps = window,
            .depth = depth,
            .columns = columns,
            .step_stride = 1,
            .depth_stride = window,
            .column_stride = window * depth,
            .first_constant = group * columns * depth * window,
            .joined = joined,
            .first_column = group * columns,
            .all_columns = g.out_channels};
  }

  bool in_groups_;
};

}  // namespace

std::unique_ptr<Implementation> coded_matrices() { return std::make_unique<CodedMatrices>(); }
std::unique_ptr<Implementation> coded_convolutions() { return std::make_unique<CodedConvolutions>(false); }
std::unique_ptr<Implementation> coded_convolutions_in_groups() { return std::make_unique<CodedConvolutions>(true); }

}  // namespace assay::engine::cpu
