#include <algorithm>
#include <map>

#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/onednn/epilogue.h"
#include "engine/devices/cpu/onednn/kernels.h"
#include "engine/devices/cpu/product_geometry.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu::onednn {
namespace {

constexpr int64_t kHotBytes = 256 * 1024;
constexpr int64_t kLeastRows = 24;  // of a lane; where there are fewer, columns are divided
constexpr int64_t kColumnStep = 64;

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
  ProductKernel(const Library& library, const Layer& layer, const ProductGeometry& geometry, Epilogue epilogue,
                Plan plan)
      : library_(library),
        g_(geometry),
        epilogue_(std::move(epilogue)),
        plan_(std::move(plan)),
        dtype_(layer.outputs[0].dtype) {
    constant_ = layer.constants[static_cast<size_t>(g_.right)];
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
    if (g_.bias >= 0) product.bias = plain_desc(library_, dtype_, {1, piece.columns});
    product.appended = epilogue_.appended(library_, {piece.rows, piece.columns}, {g_.columns, 1});
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
  ProductGeometry g_;
  Epilogue epilogue_;
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
    const ProductGeometry& g = kernel_.g_;
    const int64_t begin = (piece.item * g.rows + piece.row) * g.columns + piece.column;
    const auto input = [&](int index) { return arguments_.inputs[static_cast<size_t>(index)]; };
    running.set(kSource, at(input(g.left), g.offset(piece.item, g.left_items) + piece.row * g.left_row));
    const std::byte* const right = at(input(g.right), g.offset(piece.item, g.right_items));
    running.set(kWeights, piece.weights != nullptr ? piece.weights : right);
    if (g.bias >= 0) {
      running.set(kBias, at(input(g.bias), piece.column));
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

// Columns where lanes would get few rows.
Plan guess(const ProductGeometry& g, const Epilogue& epilogue) {
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
  const std::optional<ProductGeometry> geometry = product_geometry(layer, layer.nodes[0]);
  if (!geometry) return {};
  const ProductGeometry& g = *geometry;
  if (g.right < 0 || (layer.constants[static_cast<size_t>(g.right)] != nullptr && g.item_count() != 1)) return {};
  if (!is_matrix(g.rows, g.depth, g.left_row, g.left_column)) return {};
  if (!is_matrix(g.depth, g.columns, g.right_row, g.right_column)) return {};
  std::optional<Epilogue> epilogue = make_epilogue(layer, false);
  if (!epilogue || (g.bias >= 0 && !has_bias_row(layer, g))) return {};
  Plan plan = variant.empty() ? guess(g, *epilogue) : parse_plan(variant);
  auto kernel = std::make_unique<ProductKernel>(library, layer, g, std::move(*epilogue), std::move(plan));
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
