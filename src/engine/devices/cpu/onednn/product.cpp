#include <algorithm>
#include <map>
#include <tuple>

#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/onednn/epilogue.h"
#include "engine/devices/cpu/onednn/kernels.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu::onednn {
namespace {

constexpr int64_t kHotBytes = 256 * 1024;
constexpr int64_t kLeastRows = 24;  // of a lane; where there are fewer, columns are divided
constexpr int64_t kColumnStep = 64;

// A product of matrices, or many of them: items of [rows, depth] by [depth, columns].
struct Geometry {
  std::vector<int64_t> items;                    // dims before the matrices
  std::vector<int64_t> left_items, right_items;  // strides by dim of `items`
  int64_t rows = 1, depth = 1, columns = 1;
  int64_t left_row = 0, left_column = 0;  // strides
  int64_t right_row = 0, right_column = 0;

  int64_t item_count() const {
    int64_t count = 1;
    for (const int64_t dim : items) count *= dim;
    return count;
  }
  int64_t offset(int64_t item, std::span<const int64_t> strides) const {
    int64_t offset = 0;
    for (size_t i = items.size(); i-- > 0; item /= items[i]) offset += item % items[i] * strides[i];
    return offset;
  }
};

int64_t product_of(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) product *= dim;
  return product;
}

std::optional<Geometry> gemm_geometry(const Layer& layer) {
  const TensorDesc& a = layer.inputs[0];
  const TensorDesc& b = layer.inputs[1];
  const ops::Node facts = layer.facts(layer.nodes[0]);
  if (facts.floating("alpha", 1) != 1 || facts.floating("beta", 1) != 1) return std::nullopt;
  const bool turns_left = facts.flag("transA");
  const bool turns_right = facts.flag("transB");
  Geometry g;
  g.rows = a.dims[turns_left ? 1 : 0];
  g.depth = a.dims[turns_left ? 0 : 1];
  g.columns = b.dims[turns_right ? 0 : 1];
  std::tie(g.left_row, g.left_column) =
      turns_left ? std::pair(a.strides[1], a.strides[0]) : std::pair(a.strides[0], a.strides[1]);
  std::tie(g.right_row, g.right_column) =
      turns_right ? std::pair(b.strides[1], b.strides[0]) : std::pair(b.strides[0], b.strides[1]);
  return g;
}

std::optional<Geometry> geometry_of(const Layer& layer) {
  if (layer.starts_with("Gemm")) return gemm_geometry(layer);
  const TensorDesc& a = layer.inputs[0];
  const TensorDesc& b = layer.inputs[1];
  const size_t rank = a.dims.size();
  if (rank < 2 || b.dims.size() < 2) return std::nullopt;
  Geometry g;
  g.depth = a.dims.back();
  g.columns = b.dims.back();
  std::tie(g.left_row, g.left_column) = std::pair(a.strides[rank - 2], a.strides[rank - 1]);
  std::tie(g.right_row, g.right_column) = std::pair(b.strides[b.strides.size() - 2], b.strides.back());
  if (b.dims.size() == 2 && has_layout(a, Layout::plain)) {
    g.rows = product_of(std::span(a.dims).first(rank - 1));
    g.left_row = g.depth;
    g.left_column = 1;
    return g;
  }
  if (rank != b.dims.size() || !std::equal(a.dims.begin(), a.dims.end() - 2, b.dims.begin())) return std::nullopt;
  g.rows = a.dims[rank - 2];
  g.items.assign(a.dims.begin(), a.dims.end() - 2);
  g.left_items.assign(a.strides.begin(), a.strides.end() - 2);
  g.right_items.assign(b.strides.begin(), b.strides.end() - 2);
  return g;
}

// Whether one of the strides of a matrix is 1, as the library wants it.
bool is_matrix(int64_t rows, int64_t columns, int64_t row, int64_t column) {
  return (column == 1 && (row >= columns || rows == 1)) || (row == 1 && (column >= rows || columns == 1));
}

// How a layer's work is divided, and which of the library's implementations does it; empty: its first.
struct Plan {
  bool by_columns = false;
  std::string implementation;
};

// Some rows and columns of one item, computed at once.
struct Piece {
  int64_t item, row, rows, column, columns;
  size_t operation = 0;
  const std::byte* weights = nullptr;  // packed; null: they are computed
};

class ProductKernel final : public Kernel {
 public:
  ProductKernel(const Library& library, const Layer& layer, const Geometry& geometry, Epilogue epilogue, int bias,
                Plan plan)
      : library_(library),
        g_(geometry),
        epilogue_(std::move(epilogue)),
        bias_index_(bias),
        plan_(std::move(plan)),
        dtype_(layer.inputs[0].dtype) {
    constant_ = layer.constants[1];
    packed_ = layer.packed;
    is_ready_ = plan_.by_columns ? divide_columns() : divide_rows();
  }

  bool is_ready() const { return is_ready_; }
  // Of the library, for the first piece.
  std::vector<std::string> implementations() const {
    if (!is_ready_ || pieces_.empty() || pieces_[0].empty()) return {};
    return Operation::implementations(library_, describe(pieces_[0][0]));
  }
  uint64_t workspace_bytes() const override { return scratchpad_ * static_cast<uint64_t>(pieces_.size()); }
  std::unique_ptr<Call> bind(const Arguments& arguments) const override;

 private:
  friend class ProductCall;

  bool divide_rows() {
    const auto threads = static_cast<int64_t>(thread_count());
    const bool has_tape = !epilogue_.tape.is_empty();
    const int64_t rows = g_.item_count() * g_.rows;
    const int64_t lanes = std::max<int64_t>(1, std::min(threads, rows));
    const int64_t row_bytes = g_.columns * float_bytes(dtype_);
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

  bool divide_columns() {
    const auto lanes = static_cast<int64_t>(thread_count());
    const bool can_append = epilogue_.tape.is_empty() || g_.rows == 1;
    if (g_.item_count() != 1 || g_.columns < kColumnStep * lanes || !can_append) return false;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const auto [begin, end] = lane_of(g_.columns, lanes, lane, kColumnStep);
      if (!add(pieces_.emplace_back(), {0, 0, g_.rows, begin, end - begin})) return false;
    }
    return true;
  }

  bool add(std::vector<Piece>& pieces, Piece piece) {
    const auto [known, is_new] = known_.try_emplace({piece.rows, piece.columns}, operations_.size());
    if (is_new) {
      std::shared_ptr<const Operation> made = Operation::make(library_, describe(piece), plan_.implementation);
      if (!made) return false;
      scratchpad_ = std::max(scratchpad_, (made->scratchpad_bytes() + 63) / 64 * 64);
      operations_.push_back(std::move(made));
    }
    piece.operation = known->second;
    if (constant_ != nullptr) piece.weights = packed_columns(piece);
    pieces.push_back(piece);
    return true;
  }

  Operation::Product describe(const Piece& piece) const {
    Operation::Product product;
    product.source = strided_desc(library_, dtype_, {piece.rows, g_.depth}, {g_.left_row, g_.left_column});
    product.target = strided_desc(library_, dtype_, {piece.rows, piece.columns}, {g_.columns, 1});
    product.weights = constant_ == nullptr
                          ? strided_desc(library_, dtype_, {g_.depth, piece.columns}, {g_.right_row, g_.right_column})
                          : any_desc(library_, dtype_, {g_.depth, piece.columns});
    if (bias_index_ >= 0) product.bias = plain_desc(library_, dtype_, {1, piece.columns});
    product.following.eltwise = epilogue_.eltwise;
    return product;
  }

  const std::byte* packed_columns(const Piece& piece) {
    const WeightsPart part{*constant_,
                           strided_desc(library_, dtype_, {g_.depth, piece.columns}, {g_.right_row, g_.right_column}),
                           static_cast<uint64_t>(piece.column * g_.right_column * float_bytes(dtype_))};
    forms_.push_back(pack(library_, *packed_, part, operations_[piece.operation]->weights()));
    return forms_.back().get();
  }

  const Library& library_;
  Geometry g_;
  Epilogue epilogue_;
  int bias_index_;
  Plan plan_;
  tensor::DType dtype_;
  const tensor::Tensor* constant_ = nullptr;
  PackedWeights* packed_ = nullptr;
  std::vector<std::vector<Piece>> pieces_;  // by lane
  std::map<std::pair<int64_t, int64_t>, size_t> known_;
  std::vector<std::shared_ptr<const Operation>> operations_;
  std::vector<PackedWeights::Bytes> forms_;
  uint64_t scratchpad_ = 0;
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
        running.set(kScratchpad, host<std::byte>(arguments.workspace + lane * kernel_.scratchpad_));
      }
    }
  }

  void run() override {
    parallel_for(running_.size(), 1, [&](uint64_t begin, uint64_t end) {
      const OneThread one(kernel_.library_);
      for (uint64_t lane = begin; lane < end; ++lane) {
        for (const Piece& piece : kernel_.pieces_[lane]) run_piece(piece, running_[lane][piece.operation]);
      }
    });
  }

 private:
  std::byte* at(Address address, int64_t element) const {
    return host<std::byte>(address) + element * float_bytes(kernel_.dtype_);
  }

  void run_piece(const Piece& piece, Running& running) {
    const Geometry& g = kernel_.g_;
    const int64_t begin = (piece.item * g.rows + piece.row) * g.columns + piece.column;
    running.set(kSource, at(arguments_.inputs[0], g.offset(piece.item, g.left_items) + piece.row * g.left_row));
    const std::byte* const right = at(arguments_.inputs[1], g.offset(piece.item, g.right_items));
    running.set(kWeights, piece.weights != nullptr ? piece.weights : right);
    if (kernel_.bias_index_ >= 0) {
      running.set(kBias, at(arguments_.inputs[static_cast<size_t>(kernel_.bias_index_)], piece.column));
    }
    std::byte* const out = at(arguments_.outputs[0], begin);
    running.set(kTarget, out);
    running.execute();
    if (kernel_.epilogue_.tape.is_empty()) return;
    kernel_.epilogue_.tape.run(out, out, arguments_.inputs, begin,
                               begin + (piece.rows - 1) * g.columns + piece.columns);
  }

  const ProductKernel& kernel_;
  Arguments arguments_;
  std::vector<std::vector<Running>> running_;  // by lane and operation
};

std::unique_ptr<Call> ProductKernel::bind(const Arguments& arguments) const {
  return std::make_unique<ProductCall>(*this, arguments);
}

// The input that is added to every row of the product; -1: none, -2: what is added is not of that kind.
int bias_of(const Layer& layer, const Geometry& g) {
  if (!layer.starts_with("Gemm") || !layer.operand(layer.nodes[0], 2).valid()) return -1;
  const int input = layer.input_of(layer.operand(layer.nodes[0], 2));
  const tensor::Shape& dims = layer.inputs[static_cast<size_t>(input)].dims;
  const TensorDesc& desc = layer.inputs[static_cast<size_t>(input)];
  const bool is_simple = desc.dtype == layer.inputs[0].dtype && has_layout(desc, Layout::plain);
  const bool is_row = is_simple && !dims.empty() && dims.back() == g.columns && product_of(dims) == g.columns;
  return is_row ? input : -2;
}

bool is_product(const Layer& layer) {
  if (!(layer.starts_with("MatMul") || layer.starts_with("Gemm")) || layer.outputs.size() != 1) return false;
  for (const TensorDesc& desc : {layer.inputs[0], layer.inputs[1], layer.outputs[0]}) {
    if (!is_float(desc.dtype) || desc.dtype != layer.inputs[0].dtype || desc.count() == 0) return false;
  }
  return has_layout(layer.outputs[0], Layout::plain) &&
         layer.desc_of(layer.result(layer.nodes[0], 0)).dims == layer.outputs[0].dims;
}

// Columns where lanes would get few rows.
Plan guess(const Geometry& g, const Epilogue& epilogue) {
  const auto threads = static_cast<int64_t>(thread_count());
  const bool has_few_rows = g.item_count() == 1 && g.rows < kLeastRows * threads;
  const bool can_append = epilogue.tape.is_empty() || g.rows == 1;
  return {.by_columns = has_few_rows && can_append && g.columns >= kColumnStep * threads, .implementation = ""};
}

// `columns/brgemm:avx512_core`
Plan parse_plan(std::string_view variant) {
  const size_t slash = std::min(variant.find('/'), variant.size());
  return {.by_columns = variant.substr(0, slash) == "columns",
          .implementation = std::string(variant.substr(std::min(slash + 1, variant.size())))};
}

std::unique_ptr<ProductKernel> make(const Library& library, const Layer& layer, std::string_view variant) {
  const std::optional<Geometry> geometry = is_product(layer) ? geometry_of(layer) : std::nullopt;
  if (!geometry) return {};
  const Geometry& g = *geometry;
  if (layer.constants[1] != nullptr && g.item_count() != 1) return {};
  if (!is_matrix(g.rows, g.depth, g.left_row, g.left_column)) return {};
  if (!is_matrix(g.depth, g.columns, g.right_row, g.right_column)) return {};
  const int bias = bias_of(layer, g);
  std::optional<Epilogue> epilogue = make_epilogue(layer, false);
  if (bias == -2 || !epilogue) return {};
  Plan plan = variant.empty() ? guess(g, *epilogue) : parse_plan(variant);
  auto kernel = std::make_unique<ProductKernel>(library, layer, g, std::move(*epilogue), bias, std::move(plan));
  if (!kernel->is_ready()) return {};
  return kernel;
}

}  // namespace

std::unique_ptr<Kernel> make_product(const Library& library, const Layer& layer, std::string_view variant) {
  return make(library, layer, variant);
}

std::vector<std::string> product_variants(const Library& library, const Layer& layer) {
  const std::unique_ptr<ProductKernel> kernel = make(library, layer, "");
  std::vector<std::string> variants;
  if (!kernel) return variants;
  for (const std::string& name : kernel->implementations()) {
    for (const char* const division : {"rows", "columns"}) variants.push_back(fmt::format("{}/{}", division, name));
  }
  return variants;
}

}  // namespace assay::engine::cpu::onednn
