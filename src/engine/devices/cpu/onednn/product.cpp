#include <algorithm>
#include <map>

#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/onednn/epilogue.h"
#include "engine/devices/cpu/onednn/kernels.h"

namespace assay::engine::cpu::onednn {
namespace {

constexpr int64_t kHotBytes = 256 * 1024;
constexpr int64_t kLeastRows = 24;  // of a lane; where there are fewer, columns are divided
constexpr int64_t kColumnStep = 64;

// A product of matrices, or many of them: items of [rows, depth] by [depth, columns].
struct Geometry {
  int64_t items = 1;
  int64_t rows, depth, columns;
  bool is_left_turned = false;  // a Gemm's transA: its memory is [depth, rows]
  bool is_right_turned = false;
  bool is_right_shared = true;  // by all items
};

int64_t product_of(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) product *= dim;
  return product;
}

std::optional<Geometry> geometry_of(const Layer& layer) {
  const tensor::Shape& a = layer.inputs[0].dims;
  const tensor::Shape& b = layer.inputs[1].dims;
  Geometry g{};
  if (layer.starts_with("Gemm")) {
    const ops::Node facts = layer.facts(layer.nodes[0]);
    if (facts.floating("alpha", 1) != 1 || facts.floating("beta", 1) != 1) return std::nullopt;
    g.is_left_turned = facts.flag("transA");
    g.is_right_turned = facts.flag("transB");
    g.rows = a[g.is_left_turned ? 1 : 0];
    g.depth = a[g.is_left_turned ? 0 : 1];
    g.columns = b[g.is_right_turned ? 0 : 1];
    return g;
  }
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  g.depth = a.back();
  g.columns = b.back();
  if (b.size() == 2) {
    g.rows = product_of(std::span(a).first(a.size() - 1));
    return g;
  }
  if (a.size() != b.size() || !std::equal(a.begin(), a.end() - 2, b.begin())) return std::nullopt;
  g.items = product_of(std::span(a).first(a.size() - 2));
  g.rows = a[a.size() - 2];
  g.is_right_shared = g.items == 1;
  return g;
}

// Some rows and columns of one item, computed at once.
struct Piece {
  int64_t item, row, rows, column, columns;
  size_t operation, weights;
};

class ProductKernel final : public Kernel {
 public:
  ProductKernel(const Library& library, const Layer& layer, const Geometry& geometry, Epilogue epilogue, int bias)
      : library_(library), g_(geometry), epilogue_(std::move(epilogue)), bias_index_(bias) {
    const tensor::Tensor* const constant = layer.constants[1];
    if (constant != nullptr) constant_ = reinterpret_cast<const float*>(constant->bytes().data());
    is_ready_ = plan();
  }

  bool is_ready() const { return is_ready_; }
  uint64_t workspace_bytes() const override { return scratchpad_ * static_cast<uint64_t>(pieces_.size()); }
  std::unique_ptr<Call> bind(const Arguments& arguments) const override;

 private:
  friend class ProductCall;

  bool plan() {
    const auto threads = static_cast<int64_t>(thread_count());
    const bool has_tape = !epilogue_.tape.is_empty();
    if (g_.items == 1 && g_.rows < kLeastRows * threads && g_.columns >= kColumnStep * threads && !has_tape) {
      return divide_columns(threads);
    }
    const int64_t rows = g_.items * g_.rows;
    const int64_t lanes = std::max<int64_t>(1, std::min(threads, rows));
    const int64_t row_bytes = g_.columns * static_cast<int64_t>(sizeof(float));
    const int64_t most = has_tape ? std::max<int64_t>(kLeastRows, kHotBytes / std::max<int64_t>(row_bytes, 1)) : rows;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      std::vector<Piece>& pieces = pieces_.emplace_back();
      const auto [begin, end] = lane_of(rows, lanes, lane, std::min<int64_t>(8, g_.rows));
      for (int64_t row = begin; row < end;) {
        const int64_t item = row / g_.rows;
        const int64_t left = std::min((item + 1) * g_.rows, end) - row;
        const int64_t parts = (left + most - 1) / most;
        const int64_t count = (left + parts - 1) / parts;
        if (!add(pieces, {item, row % g_.rows, count, 0, g_.columns, 0, 0})) return false;
        row += count;
      }
    }
    return true;
  }

  bool divide_columns(int64_t lanes) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const auto [begin, end] = lane_of(g_.columns, lanes, lane, kColumnStep);
      if (!add(pieces_.emplace_back(), {0, 0, g_.rows, begin, end - begin, 0, 0})) return false;
    }
    return true;
  }

  tensor::Shape right_strides() const {
    return g_.is_right_turned ? tensor::Shape{1, g_.depth} : tensor::Shape{g_.columns, 1};
  }

  bool add(std::vector<Piece>& pieces, Piece piece) {
    const auto [known, is_new] = known_.try_emplace({piece.rows, piece.columns}, operations_.size());
    if (is_new) {
      Operation::Product product;
      product.source = strided_desc(library_, {piece.rows, g_.depth},
                                    g_.is_left_turned ? tensor::Shape{1, g_.rows} : tensor::Shape{g_.depth, 1});
      product.target = strided_desc(library_, {piece.rows, piece.columns}, {g_.columns, 1});
      product.weights = constant_ == nullptr ? strided_desc(library_, {g_.depth, piece.columns}, right_strides())
                                             : any_desc(library_, {g_.depth, piece.columns});
      const auto packed = packed_.find(piece.column);
      if (packed != packed_.end()) product.weights = packed->second.first;
      if (bias_index_ >= 0) product.bias = plain_desc(library_, {1, piece.columns});
      product.eltwise = epilogue_.eltwise;
      std::shared_ptr<const Operation> made = Operation::make(library_, product);
      if (!made) return false;
      scratchpad_ = std::max(scratchpad_, (made->scratchpad_bytes() + 63) / 64 * 64);
      operations_.push_back(std::move(made));
    }
    piece.operation = known->second;
    if (constant_ != nullptr) pack_columns(piece);
    pieces.push_back(piece);
    return true;
  }

  void pack_columns(const Piece& piece) {
    if (packed_.contains(piece.column)) return;
    const Desc from = strided_desc(library_, {g_.depth, piece.columns}, right_strides());
    const float* const begin = constant_ + piece.column * (g_.is_right_turned ? g_.depth : 1);
    const Desc& to = operations_[piece.operation]->weights();
    packed_[piece.column] = {to, pack(library_, from, begin, to)};
  }

  const Library& library_;
  Geometry g_;
  Epilogue epilogue_;
  int bias_index_;
  const float* constant_ = nullptr;
  std::vector<std::vector<Piece>> pieces_;  // by lane
  std::map<std::pair<int64_t, int64_t>, size_t> known_;
  std::vector<std::shared_ptr<const Operation>> operations_;
  std::map<int64_t, std::pair<Desc, Packed>> packed_;  // by first column
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
  void run_piece(const Piece& piece, Running& running) {
    const Geometry& g = kernel_.g_;
    const auto* const a = host<const float>(arguments_.inputs[0]);
    const auto* const b = host<const float>(arguments_.inputs[1]);
    auto* const out = host<float>(arguments_.outputs[0]);
    const int64_t begin = (piece.item * g.rows + piece.row) * g.columns + piece.column;
    running.set(kSource, a + (g.is_left_turned ? piece.row : (piece.item * g.rows + piece.row) * g.depth));
    const bool is_packed = kernel_.constant_ != nullptr;
    const float* const right = b + (g.is_right_shared ? 0 : piece.item * g.depth * g.columns);
    running.set(kWeights, is_packed ? static_cast<const void*>(kernel_.packed_.at(piece.column).second.get()) : right);
    if (kernel_.bias_index_ >= 0) {
      running.set(kBias, host<const float>(arguments_.inputs[static_cast<size_t>(kernel_.bias_index_)]) + piece.column);
    }
    running.set(kTarget, out + begin);
    running.execute();
    if (kernel_.epilogue_.tape.is_empty()) return;
    kernel_.epilogue_.tape.run(out + begin, out + begin, arguments_.inputs, begin, begin + piece.rows * g.columns);
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
  const bool is_row = !dims.empty() && dims.back() == g.columns && product_of(dims) == g.columns;
  return is_row ? input : -2;
}

}  // namespace

std::unique_ptr<Kernel> make_product(const Library& library, const Layer& layer) {
  if (!(layer.starts_with("MatMul") || layer.starts_with("Gemm")) || layer.outputs.size() != 1) return {};
  for (const TensorDesc& desc : {layer.inputs[0], layer.inputs[1], layer.outputs[0]}) {
    if (desc.dtype != tensor::DType::float32 || !has_layout(desc, Layout::plain) || desc.count() == 0) return {};
  }
  const std::optional<Geometry> geometry = geometry_of(layer);
  if (!geometry || (layer.constants[1] != nullptr && !geometry->is_right_shared)) return {};
  if (layer.desc_of(layer.result(layer.nodes[0], 0)).dims != layer.outputs[0].dims) return {};
  const int bias = bias_of(layer, *geometry);
  std::optional<Epilogue> epilogue = make_epilogue(layer);
  if (bias == -2 || !epilogue) return {};
  auto kernel = std::make_unique<ProductKernel>(library, layer, *geometry, std::move(*epilogue), bias);
  if (!kernel->is_ready()) return {};
  return kernel;
}

}  // namespace assay::engine::cpu::onednn
