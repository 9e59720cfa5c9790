#include "engine/layers/product.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "engine/devices/cpu/forms.h"
#include "engine/devices/cpu/integers/exact_sums.h"
#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/onednn/epilogue.h"
#include "engine/devices/cpu/onednn/kernels.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu::onednn {
namespace {

constexpr int64_t kHotBytes = int64_t{256} * 1024;
constexpr int64_t kLeastRows = 24;  // of a lane; where there are fewer, columns are divided
constexpr int64_t kColumnStep = 64;
constexpr int64_t kBlockColumns = 256;  // at once, where a tape goes over them

// The division of a layer's work, and the library's implementation that does it; empty: its first.
struct Division {
  bool by_columns = false;
  bool is_picture = false;  // a convolution of 1 x 1 over the rows: the library is faster at that with integers
  std::string implementation;
};

// Some rows and columns of one item, computed at once.
struct Piece {
  int64_t item, row, rows, column, columns;
  size_t operation = 0;
  const std::byte* weights = nullptr;  // packed; null: they are computed
};

// A product as the library takes it.
struct ProductSource : ProductForm {
  ProductGeometry geometry;
};

class ProductKernel final : public Kernel {
 public:
  ProductKernel(const Library& library, const Layer& layer, ProductSource source, Epilogue epilogue, Division division)
      : library_(library),
        source_(std::move(source)),
        g_(source_.geometry),
        epilogue_(std::move(epilogue)),
        division_(std::move(division)),
        out_type_(layer.outputs[0].dtype),
        packed_(*layer.packed) {
    is_beside_ = source_.is_integer() && !epilogue_.tape.is_empty();
    target_type_ = is_beside_ ? tensor::DType::float32 : out_type_;
    bias_type_ = source_.is_integer() && out_type_ != tensor::DType::int32 ? tensor::DType::float32 : out_type_;
    if (source_.quantized) std::tie(scaling_, bias_) = scaling_of(*source_.quantized, epilogue_);
    if (division_.is_picture && !can_be_picture()) return;
    is_ready_ = division_.by_columns ? divide_columns() : divide_rows();
  }

  bool is_ready() const { return is_ready_; }
  // The library's implementations for the first piece.
  std::vector<std::string> implementations() const {
    if (!is_ready_ || pieces_.empty() || pieces_[0].empty()) return {};
    const Scaling scaling = scaling_.of({pieces_[0][0].column, pieces_[0][0].column + pieces_[0][0].columns});
    return division_.is_picture ? Operation::implementations(library_, describe_picture(pieces_[0][0], scaling))
                                : Operation::implementations(library_, describe(pieces_[0][0], scaling));
  }
  uint64_t workspace_bytes() const override { return lane_bytes() * static_cast<uint64_t>(pieces_.size()); }
  std::unique_ptr<Call> bind(const Arguments& arguments) const override;

 private:
  friend class ProductCall;

  bool can_be_picture() const {
    return source_.is_integer() && g_.item_count() == 1 && g_.left_row == g_.depth && !division_.by_columns;
  }
  uint64_t lane_bytes() const { return scratchpad_ + result_bytes_ + share_bytes(); }
  // Bytes for what a zero point adds to a piece's sums.
  uint64_t share_bytes() const { return (source_.column_sums.size() * sizeof(float) + 63) / 64 * 64; }
  bool has_bias() const { return g_.bias >= 0 || !bias_.empty() || source_.zero >= 0; }
  // From row to row of what the library writes.
  int64_t target_row(const Piece& piece) const { return is_beside_ ? piece.columns : g_.columns; }

  bool divide_rows() {
    const auto threads = static_cast<int64_t>(thread_count());
    const bool has_tape = !epilogue_.tape.is_empty();
    const int64_t rows = g_.item_count() * g_.rows;
    const int64_t lanes = std::max<int64_t>(1, std::min(threads, rows));
    const int64_t row_bytes = g_.columns * float_bytes(target_type_);
    const int64_t most = has_tape ? std::max<int64_t>(kLeastRows, kHotBytes / std::max<int64_t>(row_bytes, 1)) : rows;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      std::vector<Piece>& pieces = pieces_.emplace_back();
      const auto [begin, end] = lane_of(rows, lanes, lane, std::min<int64_t>(8, g_.rows));
      for (int64_t row = begin; row < end;) {
        const int64_t item = row / g_.rows;
        const int64_t left = std::min((item + 1) * g_.rows, end) - row;
        const int64_t parts = (left + most - 1) / most;
        const int64_t count = (left + parts - 1) / parts;
        if (!add(pieces, {item, row % g_.rows, count, 0, g_.columns})) return false;
        row += count;
      }
    }
    return true;
  }

  // Divides the work by columns if a tape follows: it goes over blocks of columns.
  bool divide_columns() {
    const auto lanes = static_cast<int64_t>(thread_count());
    if (g_.item_count() != 1 || g_.columns < kColumnStep * lanes) return false;
    const int64_t most = epilogue_.tape.is_empty() || g_.rows == 1 ? g_.columns : kBlockColumns;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const auto [begin, end] = lane_of(g_.columns, lanes, lane, kColumnStep);
      std::vector<Piece>& pieces = pieces_.emplace_back();
      for (int64_t column = begin; column < end; column += most) {
        if (!add(pieces, {0, 0, g_.rows, column, std::min(most, end - column)})) return false;
      }
    }
    return true;
  }

  bool add(std::vector<Piece>& pieces, Piece piece) {
    const auto [known, is_new] = known_.try_emplace({piece.rows, piece.columns}, operations_.size());
    if (is_new) {
      const Scaling scaling = scaling_.of({piece.column, piece.column + piece.columns});
      std::shared_ptr<const Operation> made =
          division_.is_picture ? Operation::make(library_, describe_picture(piece, scaling), division_.implementation)
                               : Operation::make(library_, describe(piece, scaling), division_.implementation);
      if (!made) return false;
      scratchpad_ = std::max(scratchpad_, (made->scratchpad_bytes() + 63) / 64 * 64);
      operations_.push_back(std::move(made));
    }
    const auto bytes = static_cast<uint64_t>(piece.rows * piece.columns * float_bytes(target_type_));
    if (is_beside_) result_bytes_ = std::max(result_bytes_, (bytes + 63) / 64 * 64);
    piece.operation = known->second;
    if (source_.weights != nullptr) piece.weights = packed_columns(piece);
    pieces.push_back(piece);
    return true;
  }

  Operation::Product describe(const Piece& piece, const Scaling& scaling) const {
    const tensor::DType right_type = source_.weights == nullptr ? source_.left_type : source_.weights->dtype();
    const tensor::Shape dims = {piece.rows, piece.columns};
    const tensor::Shape weights_dims = {g_.depth, piece.columns};
    Operation::Product product;
    product.source = strided_desc(library_, source_.left_type, {piece.rows, g_.depth}, {g_.left_row, g_.left_column});
    product.target = strided_desc(library_, target_type_, dims, {target_row(piece), 1});
    product.weights = source_.weights == nullptr
                          ? strided_desc(library_, right_type, weights_dims, {g_.right_row, g_.right_column})
                          : any_desc(library_, right_type, weights_dims);
    if (has_bias()) product.bias = plain_desc(library_, bias_type_, {1, piece.columns});
    if (source_.quantized) product.scaling = &scaling;
    product.sums_codes = source_.is_integer();
    product.appended = epilogue_.appended(library_, dims, {target_row(piece), 1});
    return product;
  }

  // Rows are pixels, columns channels.
  Operation::Convolution describe_picture(const Piece& piece, const Scaling& scaling) const {
    const tensor::Shape dims = {1, piece.columns, piece.rows, 1};
    const tensor::Shape strides = {piece.rows * piece.columns, 1, piece.columns, piece.columns};
    Operation::Convolution convolution;
    convolution.source = strided_desc(library_, source_.left_type, {1, g_.depth, piece.rows, 1},
                                      {piece.rows * g_.depth, 1, g_.depth, g_.depth});
    convolution.target = strided_desc(library_, target_type_, dims, strides);
    convolution.weights = any_desc(library_, source_.weights->dtype(), {piece.columns, g_.depth, 1, 1});
    if (has_bias()) convolution.bias = plain_desc(library_, bias_type_, {piece.columns});
    if (source_.quantized) convolution.scaling = &scaling;
    convolution.sums_codes = source_.is_integer();
    convolution.strides = {1, 1};
    convolution.dilations = convolution.padding_before = convolution.padding_after = {0, 0};
    convolution.appended = epilogue_.appended(library_, dims, strides);
    return convolution;
  }

  const std::byte* packed_columns(const Piece& piece) {
    const tensor::DType dtype = source_.weights->dtype();
    const Desc matrix = strided_desc(library_, dtype, {g_.depth, piece.columns}, {g_.right_row, g_.right_column});
    const Desc kernels =
        strided_desc(library_, dtype, {piece.columns, g_.depth, 1, 1}, {g_.right_column, g_.right_row, 1, 1});
    const WeightsPart part{*source_.weights, division_.is_picture ? kernels : matrix,
                           static_cast<uint64_t>(piece.column * g_.right_column * float_bytes(dtype))};
    forms_.push_back(pack(library_, packed_, part, operations_[piece.operation]->weights()));
    return host<const std::byte>(forms_.back().first);
  }

  const Library& library_;
  ProductSource source_;
  const ProductGeometry& g_;
  Epilogue epilogue_;
  Division division_;
  tensor::DType target_type_;  // of what the library writes
  tensor::DType bias_type_;
  tensor::DType out_type_;
  bool is_beside_ = false;  // the library writes beside the result
  Scaling scaling_;
  std::vector<float> bias_;  // of integers, in the epilogue's unit
  PackedWeights& packed_;
  std::vector<std::vector<Piece>> pieces_;  // by lane
  std::map<std::pair<int64_t, int64_t>, size_t> known_;
  std::vector<std::shared_ptr<const Operation>> operations_;
  std::vector<Buffer> forms_;
  uint64_t scratchpad_ = 0;    // of a lane
  uint64_t result_bytes_ = 0;  // likewise, beside the result
  bool is_ready_ = false;
};

class ProductCall final : public Call {
 public:
  ProductCall(const ProductKernel& kernel, const Arguments& arguments) : kernel_(kernel) {
    for (size_t lane = 0; lane < kernel.pieces_.size(); ++lane) {
      std::vector<Running>& running = running_.emplace_back();
      for (const std::shared_ptr<const Operation>& operation : kernel.operations_) running.emplace_back(*operation);
    }
    rebind(arguments);
  }

  void rebind(const Arguments& arguments) override {
    arguments_ = arguments;
    for (size_t lane = 0; lane < running_.size(); ++lane) {
      for (Running& running : running_[lane]) {
        running.set(kScratchpad, host<std::byte>(arguments.workspace + lane * kernel_.lane_bytes()));
        if (kernel_.source_.quantized) running.set(kernel_.scaling_);
      }
    }
  }

  void run(Queue&) override {
    parallel_for(running_.size(), 1, [&](uint64_t begin, uint64_t end) {
      const OneThread one(kernel_.library_);
      for (uint64_t lane = begin; lane < end; ++lane) {
        for (const Piece& piece : kernel_.pieces_[lane]) run_piece(piece, lane);
      }
    });
  }

 private:
  std::byte* at(Address address, int64_t element, tensor::DType dtype) const {
    return host<std::byte>(address) + element * float_bytes(dtype);
  }
  Address input(int index) const { return arguments_.inputs[static_cast<size_t>(index)]; }

  void run_piece(const Piece& piece, uint64_t lane) {
    const ProductGeometry& g = kernel_.g_;
    const ProductSource& source = kernel_.source_;
    Running& running = running_[lane][piece.operation];
    const int64_t left = g.offset(piece.item, g.left_items) + piece.row * g.left_row;
    running.set(kSource, at(input(g.left), left, source.left_type));
    if (piece.weights != nullptr) {
      running.set(kWeights, piece.weights);
    } else {
      const int64_t right = g.offset(piece.item, g.right_items) + piece.column * g.right_column;
      running.set(kWeights, at(input(g.right), right, source.left_type));
    }
    if (g.bias >= 0) running.set(kBias, at(input(g.bias), piece.column, kernel_.out_type_));
    if (source.quantized) set_scaling(running, piece.column);
    if (source.zero >= 0) set_share(running, piece, lane);
    const int64_t begin = (piece.item * g.rows + piece.row) * g.columns + piece.column;
    for (size_t i = 0; i < kernel_.epilogue_.steps.size(); ++i) {
      const Epilogue::Step& step = kernel_.epilogue_.steps[i];
      if (step.added >= 0)
        running.set(operand_of_appended(static_cast<int>(i)), at(input(step.added), begin, step.dtype));
    }
    std::byte* const beside = host<std::byte>(arguments_.workspace + lane * kernel_.lane_bytes() + kernel_.scratchpad_);
    std::byte* const target = kernel_.is_beside_ ? beside : at(arguments_.outputs[0], begin, kernel_.out_type_);
    running.set(kTarget, target);
    running.execute();
    if (!kernel_.epilogue_.tape.is_empty()) run_tape(piece, begin, target);
  }

  // Scales and biases of the columns from this one on.
  void set_scaling(Running& running, int64_t column) {
    if (kernel_.scaling_.weights.size() > 1) running.set(kScales | kWeights, kernel_.scaling_.weights.data() + column);
    if (!kernel_.bias_.empty()) running.set(kBias, kernel_.bias_.data() + column);
  }

  // Sets what the zero point of the data adds to the sums of the columns.
  void set_share(Running& running, const Piece& piece, uint64_t lane) {
    const ProductSource& source = kernel_.source_;
    const auto* const byte = host<const uint8_t>(input(source.zero));
    const bool is_signed = source.left_type == tensor::DType::int8;
    const float zero = is_signed ? static_cast<float>(static_cast<int8_t>(*byte)) : static_cast<float>(*byte);
    const uint64_t offset = kernel_.scratchpad_ + kernel_.result_bytes_;
    auto* const share = host<float>(arguments_.workspace + lane * kernel_.lane_bytes() + offset);
    const auto count = static_cast<size_t>(piece.columns);
    row_kernels().scale(source.column_sums.data() + piece.column, -zero, share, count);
    if (kernel_.bias_type_ == tensor::DType::int32) {
      const std::vector<int32_t> whole(share, share + count);
      std::memcpy(share, whole.data(), count * sizeof(int32_t));
    }
    running.set(kBias, share);
  }

  void run_tape(const Piece& piece, int64_t begin, const std::byte* target) {
    kernel_.epilogue_.tape.run_rows({target, kernel_.target_row(piece)},
                                    at(arguments_.outputs[0], begin, kernel_.out_type_), arguments_.inputs,
                                    {begin, kernel_.g_.columns, piece.rows, piece.columns});
  }

  const ProductKernel& kernel_;
  Arguments arguments_;
  std::vector<std::vector<Running>> running_;  // by lane and operation
};

std::unique_ptr<Call> ProductKernel::bind(const Arguments& arguments) const {
  return std::make_unique<ProductCall>(*this, arguments);
}

// Finds the product as the library takes it, which is faster without zero points.
std::optional<ProductSource> find_source(const Layer& layer) {
  std::optional<LocatedProduct> found = product_of(layer);
  if (!found || !found->form.weight_zeros.empty()) return std::nullopt;
  ProductSource source{found->form, std::move(found->geometry)};
  source.weights = found->weights;
  if (source.is_integer() && !are_sums_exact(source.left_type, *source.weights)) return std::nullopt;
  if (source.quantized) source.quantized = without_zero_point(*std::move(source.quantized), source.column_axis);
  return source;
}

// Columns where lanes would get few rows.
Division guess(const ProductSource& source) {
  const ProductGeometry& g = source.geometry;
  const auto threads = static_cast<int64_t>(thread_count());
  const bool has_few_rows = g.item_count() == 1 && g.rows < kLeastRows * threads;
  return {.by_columns = has_few_rows && g.columns >= kColumnStep * threads,
          .is_picture = source.is_integer() && !has_few_rows,
          .implementation = ""};
}

// `columns/brgemm:avx512_core`, `pixels/brgconv_1x1:avx512_core_vnni`
Division parse_division(std::string_view variant) {
  const size_t slash = std::min(variant.find('/'), variant.size());
  return {.by_columns = variant.substr(0, slash) == "columns",
          .is_picture = variant.substr(0, slash) == "pixels",
          .implementation = std::string(variant.substr(std::min(slash + 1, variant.size())))};
}

std::unique_ptr<ProductKernel> make(const Library& library, const Layer& layer, const ProductSource& source,
                                    const Division& division) {
  for (const bool is_appended : {true, false}) {
    if (is_appended && !source.quantized) continue;
    std::optional<Epilogue> epilogue =
        is_appended ? make_integer_epilogue(layer, source.done) : make_epilogue(layer, false, source.done);
    if (!epilogue || (epilogue->quantizer && !source.quantized)) continue;
    auto kernel = std::make_unique<ProductKernel>(library, layer, source, std::move(*epilogue), division);
    if (kernel->is_ready()) return kernel;
  }
  return {};
}

}  // namespace

std::unique_ptr<Kernel> make_product(const Library& library, const Layer& layer, std::string_view variant) {
  const std::optional<ProductSource> source = find_source(layer);
  if (!source) return {};
  if (!variant.empty()) return make(library, layer, *source, parse_division(variant));
  std::unique_ptr<Kernel> kernel = make(library, layer, *source, guess(*source));
  return kernel ? std::move(kernel) : make(library, layer, *source, {});
}

std::vector<std::string> product_variants(const Library& library, const Layer& layer) {
  const std::optional<ProductSource> source = find_source(layer);
  std::vector<std::string> variants;
  if (!source) return variants;
  const auto list = [&](const Division& guessed, std::initializer_list<const char*> divisions) {
    const std::unique_ptr<ProductKernel> kernel = make(library, layer, *source, guessed);
    if (!kernel) return;
    for (const std::string& name : kernel->implementations()) {
      for (const char* const division : divisions) variants.push_back(fmt::format("{}/{}", division, name));
    }
  };
  list({.is_picture = true}, {"pixels"});
  list({}, {"rows", "columns"});
  return variants;
}

}  // namespace assay::engine::cpu::onednn
