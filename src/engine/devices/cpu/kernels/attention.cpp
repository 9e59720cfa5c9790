// Attention by blocks of queries and keys, so that the scores do not leave the cache.
#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/panels/panel_kernels.h"
#include "engine/devices/cpu/rows/row_kernels.h"
#include "engine/spelled_attention.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kColumns = static_cast<int64_t>(kPanel);
constexpr int64_t kQueries = 16;    // whose scores are computed at a time
constexpr int64_t kChunk = 128;     // queries that keys are packed for
constexpr int64_t kKeys = 256;      // of a block
constexpr int64_t kFewQueries = 4;  // for which keys are not packed

int64_t whole_panels(int64_t columns) { return (columns + kColumns - 1) / kColumns * kColumns; }

constexpr int64_t kSquare = 4;

// Rows of four numbers become columns of a panel.
void turn_square(const float* from, int64_t row, float* to) {
  using Four [[gnu::vector_size(16), gnu::may_alias, gnu::aligned(4)]] = float;
  const auto at = [&](int64_t i) -> Four { return *reinterpret_cast<const Four*>(from + i * row); };
  const Four a = __builtin_shufflevector(at(0), at(1), 0, 4, 1, 5);
  const Four b = __builtin_shufflevector(at(2), at(3), 0, 4, 1, 5);
  const Four c = __builtin_shufflevector(at(0), at(1), 2, 6, 3, 7);
  const Four d = __builtin_shufflevector(at(2), at(3), 2, 6, 3, 7);
  *reinterpret_cast<Four*>(to) = __builtin_shufflevector(a, b, 0, 1, 4, 5);
  *reinterpret_cast<Four*>(to + kColumns) = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  *reinterpret_cast<Four*>(to + 2 * kColumns) = __builtin_shufflevector(c, d, 0, 1, 4, 5);
  *reinterpret_cast<Four*>(to + 3 * kColumns) = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

// A stack of matrices, with strides in elements.
struct Matrices {
  int input = -1;  // of the layer; -1: there are none
  std::vector<int64_t> items;
  int64_t row = 0, column = 0;
};

struct Geometry {
  std::vector<int64_t> items;
  int64_t rows = 0, keys = 0, depth = 0, width = 0;
  Matrices q, k, v, mask, out;  // k: rows are keys
  float scale = 1;
  bool divides = false;

  int64_t item_count() const {
    int64_t count = 1;
    for (const int64_t dim : items) count *= dim;
    return count;
  }
  const float* at(const Matrices& matrices, const Arguments& arguments, int64_t item) const {
    return host<const float>(arguments.inputs[static_cast<size_t>(matrices.input)]) + offset(matrices, item);
  }
  int64_t offset(const Matrices& matrices, int64_t item) const {
    int64_t offset = 0;
    for (size_t i = items.size(); i-- > 0; item /= items[i]) offset += item % items[i] * matrices.items[i];
    return offset;
  }
};

// Memory of a lane.
struct Scratch {
  float *sums, *scores, *keys, *values;
  SoftmaxSoFar* states;

  static int64_t count(const Geometry& g) {
    const int64_t width = whole_panels(g.width);
    return kChunk * width + kQueries * kKeys + kKeys * g.depth + kKeys * width + kChunk * 3;
  }
  Scratch(float* memory, const Geometry& g) : sums(memory) {
    const int64_t width = whole_panels(g.width);
    scores = sums + kChunk * width;
    keys = scores + kQueries * kKeys;
    values = keys + kKeys * g.depth;
    states = reinterpret_cast<SoftmaxSoFar*>(values + kKeys * width);
  }
};

class AttentionKernel final : public PlainKernel {
 public:
  explicit AttentionKernel(Geometry geometry)
      : g_(std::move(geometry)), width_(whole_panels(g_.width)), lanes_(thread_count()) {}

  uint64_t workspace_bytes() const override { return lanes_ * lane_bytes(); }

  void run(const Arguments& arguments) const override {
    const int64_t chunks = (g_.rows + kChunk - 1) / kChunk;
    const int64_t pieces = g_.item_count() * chunks;
    std::atomic<int64_t> next = 0;
    parallel_for(lanes_, 1, [&](uint64_t lane, uint64_t) {
      const Scratch scratch(host<float>(arguments.workspace + lane * lane_bytes()), g_);
      for (int64_t piece = next++; piece < pieces; piece = next++) {
        const int64_t first = piece % chunks * kChunk;
        run_chunk(arguments, scratch, piece / chunks, {first, std::min(first + kChunk, g_.rows)});
      }
    });
  }

 private:
  struct Range {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
  };

  uint64_t lane_bytes() const { return (static_cast<uint64_t>(Scratch::count(g_)) * sizeof(float) + 63) / 64 * 64; }

  void run_chunk(const Arguments& arguments, const Scratch& scratch, int64_t item, Range rows) const {
    std::fill_n(scratch.states, rows.size(), SoftmaxSoFar{-std::numeric_limits<float>::infinity(), 0, 1});
    for (int64_t key = 0; key < g_.keys; key += kKeys) {
      const Range keys{key, std::min(key + kKeys, g_.keys)};
      const float* const values = packed_values(arguments, scratch, item, keys);
      if (!are_few(rows)) pack_keys(arguments, scratch, item, keys);
      for (int64_t row = rows.begin; row < rows.end; row += kQueries) {
        const Range some{row, std::min(row + kQueries, rows.end)};
        score(arguments, scratch, item, some, keys, are_few(rows));
        weigh(arguments, scratch, item, some, keys, row - rows.begin);
        add_values(scratch, some, keys, row - rows.begin, values);
      }
    }
    give_out(arguments, scratch, item, rows);
  }

  bool are_few(Range rows) const { return rows.size() <= kFewQueries && g_.k.column == 1; }

  // Panels of keys, with zeros beyond the last.
  void pack_keys(const Arguments& arguments, const Scratch& scratch, int64_t item, Range keys) const {
    const float* const from = g_.at(g_.k, arguments, item);
    for (int64_t first = keys.begin; first < keys.end; first += kColumns) {
      float* const panel = scratch.keys + (first - keys.begin) * g_.depth;
      const int64_t count = std::min(kColumns, keys.end - first);
      if (count < kColumns) std::fill_n(panel, g_.depth * kColumns, 0.0F);
      turn(from + first * g_.k.row, g_.k, count, panel);
    }
  }

  void turn(const float* from, const Matrices& keys, int64_t count, float* panel) const {
    const bool has_squares = keys.column == 1;
    const int64_t whole_depth = has_squares ? g_.depth / kSquare * kSquare : 0;
    const int64_t whole_count = has_squares ? count / kSquare * kSquare : 0;
    for (int64_t c = 0; c < whole_count; c += kSquare) {
      for (int64_t k = 0; k < whole_depth; k += kSquare) {
        turn_square(from + c * keys.row + k, keys.row, panel + k * kColumns + c);
      }
    }
    for (int64_t k = 0; k < g_.depth; ++k) {
      for (int64_t c = k < whole_depth ? whole_count : 0; c < count; ++c) {
        panel[k * kColumns + c] = from[c * keys.row + k * keys.column];
      }
    }
  }

  // Rows of whole panels: where they are, or copied.
  const float* packed_values(const Arguments& arguments, const Scratch& scratch, int64_t item, Range keys) const {
    const float* const from = g_.at(g_.v, arguments, item) + keys.begin * g_.v.row;
    if (lie_as_panels()) return from;
    std::fill_n(scratch.values, keys.size() * width_, 0.0F);
    for (int64_t key = 0; key < keys.size(); ++key) {
      for (int64_t c = 0; c < g_.width; ++c) {
        scratch.values[key * width_ + c] = from[key * g_.v.row + c * g_.v.column];
      }
    }
    return scratch.values;
  }
  bool lie_as_panels() const { return g_.v.column == 1 && width_ == g_.width; }

  void score(const Arguments& arguments, const Scratch& scratch, int64_t item, Range rows, Range keys,
             bool are_few) const {
    const float* const q = g_.at(g_.q, arguments, item) + rows.begin * g_.q.row;
    const auto depth = static_cast<size_t>(g_.depth);
    if (are_few) {
      const float* const k = g_.at(g_.k, arguments, item) + keys.begin * g_.k.row;
      for (int64_t r = 0; r < rows.size(); ++r) {
        row_kernels().dot(q + r * g_.q.row, k, g_.k.row, depth, static_cast<size_t>(keys.size()),
                          scratch.scores + r * kKeys);
      }
      return;
    }
    for (int64_t c = 0; c < keys.size(); c += kColumns) {
      panel_kernels().multiply({.left = q,
                                .left_row = g_.q.row,
                                .out = scratch.scores + c,
                                .out_row = kKeys,
                                .rows = static_cast<size_t>(rows.size()),
                                .depth = depth,
                                .adds = false},
                               scratch.keys + c * g_.depth, kColumns);
    }
  }

  // Makes scores weights, and what has been summed up fit them.
  void weigh(const Arguments& arguments, const Scratch& scratch, int64_t item, Range rows, Range keys,
             int64_t place) const {
    const float* mask = nullptr;
    if (g_.mask.input >= 0) mask = g_.at(g_.mask, arguments, item) + rows.begin * g_.mask.row + keys.begin;
    for (int64_t r = 0; r < rows.size(); ++r) {
      SoftmaxSoFar& state = scratch.states[place + r];
      row_kernels().softmax_block(scratch.scores + r * kKeys, mask, static_cast<size_t>(keys.size()), g_.scale,
                                  g_.divides, state);
      if (mask != nullptr) mask += g_.mask.row;
      if (keys.begin == 0 || state.factor == 1) continue;
      float* const sums = scratch.sums + (place + r) * width_;
      row_kernels().scale(sums, state.factor, sums, static_cast<size_t>(width_));
    }
  }

  void add_values(const Scratch& scratch, Range rows, Range keys, int64_t place, const float* values) const {
    for (int64_t c = 0; c < width_; c += kColumns) {
      panel_kernels().multiply({.left = scratch.scores,
                                .left_row = kKeys,
                                .out = scratch.sums + place * width_ + c,
                                .out_row = width_,
                                .rows = static_cast<size_t>(rows.size()),
                                .depth = static_cast<size_t>(keys.size()),
                                .adds = keys.begin != 0},
                               values + c, lie_as_panels() ? g_.v.row : width_);
    }
  }

  void give_out(const Arguments& arguments, const Scratch& scratch, int64_t item, Range rows) const {
    float* const out = host<float>(arguments.outputs[0]) + g_.offset(g_.out, item) + rows.begin * g_.out.row;
    for (int64_t r = 0; r < rows.size(); ++r) {
      row_kernels().scale(scratch.sums + r * width_, 1 / scratch.states[r].sum, out + r * g_.out.row,
                          static_cast<size_t>(g_.width));
    }
  }

  Geometry g_;
  int64_t width_;
  uint64_t lanes_;
};

// Where matrices are whose first dims are those of the scores, or 1.
Matrices matrices_of(int input, const TensorDesc& desc, const tensor::Shape& items) {
  Matrices matrices{.input = input, .items = {}};
  const size_t rank = desc.dims.size();
  const auto stride = [&](size_t i) { return desc.dims[i] == 1 ? 0 : desc.strides[i]; };
  for (size_t i = 0; i < items.size(); ++i) {
    const size_t missing = items.size() + 2 - rank;
    matrices.items.push_back(i < missing ? 0 : stride(i - missing));
  }
  matrices.row = rank < 2 ? 0 : stride(rank - 2);
  matrices.column = desc.strides[rank - 1];
  return matrices;
}

// The result as if its dims were in the order of the product.
TensorDesc turned_back(const TensorDesc& out, const std::vector<int64_t>& order) {
  TensorDesc desc = out;
  for (size_t i = 0; i < order.size(); ++i) {
    desc.dims[static_cast<size_t>(order[i])] = out.dims[i];
    desc.strides[static_cast<size_t>(order[i])] = out.strides[i];
  }
  return desc;
}

class Attention final : public Implementation {
 public:
  std::string_view name() const override { return "attention.blocks"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const ConstantOf constant = [&](ir::ValueId value) { return layer.constant(value); };
    const auto spelled = match_attention(*layer.model, *layer.inference, layer.nodes, constant);
    if (!spelled || layer.outputs.size() != 1 || !has_layout(layer.outputs[0], Layout::plain)) return {};
    const auto desc = [&](ir::ValueId value) { return layer.inputs[static_cast<size_t>(layer.input_of(value))]; };
    const auto matrices = [&](ir::ValueId value, const tensor::Shape& items) {
      return matrices_of(layer.input_of(value), desc(value), items);
    };
    const TensorDesc out = turned_back(layer.outputs[0], spelled->order);
    Geometry g{.items = {out.dims.begin(), out.dims.end() - 2}, .scale = spelled->scale, .divides = spelled->divides};
    g.rows = out.dims[out.dims.size() - 2];
    g.width = out.dims.back();
    g.depth = desc(spelled->q).dims.back();
    g.keys = desc(spelled->k).dims.back();
    g.q = matrices(spelled->q, g.items);
    g.k = matrices(spelled->k, g.items);
    std::swap(g.k.row, g.k.column);
    g.v = matrices(spelled->v, g.items);
    g.out = matrices_of(0, out, g.items);
    if (spelled->mask.valid()) g.mask = matrices(spelled->mask, g.items);
    const bool has_dense_rows = g.q.column == 1 && g.out.column == 1 && (g.mask.input < 0 || g.mask.column == 1);
    return has_dense_rows ? std::make_unique<AttentionKernel>(std::move(g)) : nullptr;
  }
};

Implementations make_all(const Libraries&) {
  Implementations all;
  all.push_back(std::make_unique<Attention>());
  return all;
}

}  // namespace

KernelFamily cpu_kernel_attention() { return {make_all}; }

}  // namespace assay::engine::cpu
