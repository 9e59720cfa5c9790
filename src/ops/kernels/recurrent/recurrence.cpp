#include "ops/kernels/recurrent/recurrence.h"

#include <algorithm>
#include <cmath>

#include "ops/kernels/product/matrix_product.h"
#include "ops/kernels/quantization/dynamic_codes.h"

namespace assay::ops {
namespace {

constexpr uint32_t kX = 0, kW = 1, kR = 2, kB = 3, kLengths = 4, kInitialH = 5, kInitialC = 6, kPeepholes = 7;
constexpr uint32_t kScaleOfW = 8, kScaleOfR = 10;  // each with its zero point behind it, where there are codes

// The first version of GRU has a default with a typing mistake.
bool goes_back(const Node& node, uint64_t direction) { return direction == 1 || node.string("direction") == "reverse"; }

uint64_t directions_of(const Node& node) {
  const std::string_view word = node.string("direction");
  if (word == "forward" || word == "foward" || word == "reverse") return 1;
  if (word == "bidirectional") return 2;
  fail(ErrorCode::shape, "attribute `direction` is `{}`, expected forward, reverse or bidirectional", word);
}

bool is_batch_first(const Node& node) {
  const int64_t layout = node.integer("layout", 0);
  if (layout != 0 && layout != 1) fail(ErrorCode::shape, "attribute `layout` is {}, expected 0 or 1", layout);
  return layout == 1;
}

// Takes what an input says of some dims into `known`, which must agree.
void unify_dims(const Infer& node, uint32_t input, std::initializer_list<Dim*> known, std::string_view what) {
  if (!node.has(input)) return;
  node.require_rank(input, static_cast<int64_t>(known.size()));
  if (!node.is_ranked(input)) return;
  size_t i = 0;
  for (Dim* dim : known) {
    *dim = unify(*dim, node.dims(input)[i++], what);
  }
}

struct RecurrentDims {
  Dim length, batch, input, hidden;
};

// One for each direction, or for each of its columns.
void check_factors(const Infer& node, uint32_t input, const Dim& directions, const Dim& columns) {
  if (!node.has(input) || !node.is_ranked(input)) return;
  unify(product(node.dims(input)), node.rank(input) == 1 ? directions : directions * columns,
        "scales or zero points and the directions or columns that they are for");
}

RecurrentDims read_dims(const Infer& node, const RecurrentKind& kind) {
  RecurrentDims d;
  const bool is_turned = is_batch_first(node);
  const auto gates = static_cast<int64_t>(kind.gates);
  Dim directions = static_cast<int64_t>(directions_of(node));
  if (node.has_attribute("hidden_size")) d.hidden = node.integer("hidden_size");
  unify_dims(node, kX, {is_turned ? &d.batch : &d.length, is_turned ? &d.length : &d.batch, &d.input}, "dims of X");
  if (node.is_ranked(kR)) {
    node.require_rank(kR, 3);
    d.hidden = unify(d.hidden, node.dims(kR)[kind.has_codes ? 1 : 2], "hidden sizes of attribute and R");
  }
  Dim rows = d.hidden * Dim(gates);
  Dim biases = rows * Dim(2);
  Dim peepholes = d.hidden * Dim(3);
  Dim hidden = d.hidden;
  const auto unify_weights = [&](uint32_t input, Dim* columns, std::string_view what) {
    Dim* const second = kind.has_codes ? columns : &rows;
    unify_dims(node, input, {&directions, second, kind.has_codes ? &rows : columns}, what);
  };
  unify_weights(kW, &d.input, "dims of W and those that X, R and attributes ask for");
  unify_weights(kR, &hidden, "dims of R and those that W and attributes ask for");
  if (kind.has_codes) {
    for (uint32_t input = kScaleOfW; input < kScaleOfR + 2; ++input) check_factors(node, input, directions, rows);
  }
  unify_dims(node, kB, {&directions, &biases}, "dims of B and those that R asks for");
  unify_dims(node, kLengths, {&d.batch}, "batch size and length of sequence_lens");
  for (const uint32_t state : {kInitialH, kInitialC}) {
    if (state == kInitialC && !kind.has_cell) break;
    unify_dims(node, state, {is_turned ? &d.batch : &directions, is_turned ? &directions : &d.batch, &d.hidden},
               "dims of an initial state and those that X and R ask for");
  }
  if (kind.has_cell) unify_dims(node, kPeepholes, {&directions, &peepholes}, "dims of P and those that R asks for");
  return d;
}

std::vector<double> part_of(const std::vector<double>& all, uint64_t part, uint64_t size) {
  const auto first = all.begin() + static_cast<ptrdiff_t>(part * size);
  return {first, first + static_cast<ptrdiff_t>(size)};
}

std::vector<double> load_or_zeros(const Eval& node, uint32_t input, uint64_t count) {
  return node.has(input) ? node.load<double>(input) : std::vector<double>(count);
}

// [rows, columns] the other way round.
std::vector<double> turned(const double* from, uint64_t rows, uint64_t columns) {
  std::vector<double> result(rows * columns);
  for (uint64_t r = 0; r < rows; ++r) {
    for (uint64_t c = 0; c < columns; ++c) result[c * rows + r] = from[r * columns + c];
  }
  return result;
}

// a [rows, depth] · columns [first, first + columns) of b, whose rows are `stride` long.
std::vector<double> multiply(const ProductSize& size, const std::vector<double>& a, const std::vector<double>& b,
                             uint64_t stride, uint64_t first) {
  std::vector<double> out(size.rows * size.columns);
  matrix_product(
      size,
      [&](uint64_t row, uint64_t begin, std::span<double> to) {
        std::copy_n(a.data() + row * size.depth + begin, to.size(), to.begin());
      },
      [&](uint64_t row, uint64_t begin, std::span<double> to) {
        std::copy_n(b.data() + row * stride + first + begin, to.size(), to.begin());
      },
      [&](uint64_t row, uint64_t begin, std::span<const double> values) {
        std::ranges::copy(values, out.begin() + static_cast<ptrdiff_t>(row * size.columns + begin));
      });
  return out;
}

// Numbers become what codes of 8 bits stand for.
void round_to_codes(std::vector<double>& numbers, bool is_wide, uint64_t draw) {
  const DynamicCodes found = to_dynamic_codes(numbers, is_wide, draw);
  for (double& x : numbers) x = (x - found.zero) * found.scale;
}

// One node's run: what all directions share.
class Run {
 public:
  Run(Eval& node, const RecurrentKind& kind)
      : node_(node), kind_(kind), is_turned_(is_batch_first(node)), directions_(directions_of(node)) {
    const Shape& x = node.shape(kX);
    length_ = static_cast<uint64_t>(x[is_turned_ ? 1 : 0]);
    batch_ = static_cast<uint64_t>(x[is_turned_ ? 0 : 1]);
    input_ = static_cast<uint64_t>(x[2]);
    hidden_ = static_cast<uint64_t>(node.shape(kR)[kind.has_codes ? 1 : 2]);
    y_.resize(directions_ * batch_ * length_ * hidden_);
    last_h_.resize(directions_ * batch_ * hidden_);
    last_c_.resize(kind.has_cell ? last_h_.size() : 0);
    read_lengths();
  }

  void run(RecurrentStep step) {
    for (uint64_t d = 0; d < directions_; ++d) run_direction(d, step);
    node_.store(0, std::move(y_));
    node_.store(1, std::move(last_h_));
    if (kind_.has_cell) node_.store(2, std::move(last_c_));
  }

 private:
  void read_lengths() {
    lengths_.assign(batch_, static_cast<int64_t>(length_));
    if (!node_.has(kLengths)) return;
    lengths_ = node_.integers_in(kLengths);
    for (const int64_t length : lengths_) {
      if (length < 0 || length > static_cast<int64_t>(length_)) {
        fail(ErrorCode::shape, "a sequence has length {}, X has {} steps", length, length_);
      }
    }
  }

  uint64_t state_place(uint64_t d, uint64_t b) const {
    return (is_turned_ ? b * directions_ + d : d * batch_ + b) * hidden_;
  }
  uint64_t y_place(uint64_t t, uint64_t d, uint64_t b) const {
    return (is_turned_ ? (b * length_ + t) * directions_ + d : (t * directions_ + d) * batch_ + b) * hidden_;
  }

  std::vector<double> initial(uint32_t input, uint64_t d) const {
    const std::vector<double> all = load_or_zeros(node_, input, directions_ * batch_ * hidden_);
    std::vector<double> result;
    for (uint64_t b = 0; b < batch_; ++b) {
      const auto first = all.begin() + static_cast<ptrdiff_t>(state_place(d, b));
      result.insert(result.end(), first, first + static_cast<ptrdiff_t>(hidden_));
    }
    return result;
  }

  // [depth, columns]
  std::vector<double> weights_of(uint32_t input, uint64_t d, uint64_t columns, uint64_t depth) const {
    const std::vector<double> all = node_.load<double>(input);
    if (!kind_.has_codes) return turned(all.data() + d * columns * depth, columns, depth);
    std::vector<double> weights = part_of(all, d, columns * depth);
    const uint32_t scale = input == kW ? kScaleOfW : kScaleOfR;
    const std::vector<double> scales = node_.load<double>(scale), zeros = node_.load<double>(scale + 1);
    const auto factor = [&](const std::vector<double>& factors, uint64_t column) {
      return factors[factors.size() == directions_ ? d : d * columns + column];
    };
    for (uint64_t i = 0; i < weights.size(); ++i)
      weights[i] = (weights[i] - factor(zeros, i % columns)) * factor(scales, i % columns);
    return weights;
  }

  RecurrentCell make_cell(uint64_t d) const {
    RecurrentCell cell;
    cell.batch = batch_;
    cell.hidden = hidden_;
    cell.gates = kind_.gates;
    cell.has_codes = kind_.has_codes;
    cell.is_wide = node_.is_wide();
    cell.code_draw = node_.code_draw();
    cell.recurrence = weights_of(kR, d, cell.row(), hidden_);
    const std::vector<double> biases = load_or_zeros(node_, kB, directions_ * 2 * cell.row());
    cell.input_bias = part_of(biases, 2 * d, cell.row());
    cell.own_bias = part_of(biases, 2 * d + 1, cell.row());
    if (kind_.has_cell && node_.has(kPeepholes)) {
      cell.peepholes = part_of(node_.load<double>(kPeepholes), d, 3 * hidden_);
    }
    const size_t functions = kind_.activations.size();
    const std::vector<RecurrentActivation> all =
        read_recurrent_activations(node_, functions * directions_, kind_.activations);
    const auto first = all.begin() + static_cast<ptrdiff_t>(d * functions);
    cell.activations.assign(first, first + static_cast<ptrdiff_t>(functions));
    cell.clip = node_.floating("clip", 0);
    cell.h = initial(kInitialH, d);
    if (kind_.has_cell) cell.c = initial(kInitialC, d);
    return cell;
  }

  void run_direction(uint64_t d, RecurrentStep step) {
    RecurrentCell cell = make_cell(d);
    std::vector<double> x = node_.load<double>(kX);
    if (kind_.has_codes) round_to_codes(x, node_.is_wide(), node_.code_draw());
    const std::vector<double> inputs =
        multiply({length_ * batch_, cell.row(), input_}, x, weights_of(kW, d, cell.row(), input_), cell.row(), 0);
    std::vector<const double*> rows(batch_);
    for (uint64_t s = 0; s < length_; ++s) {
      for (uint64_t b = 0; b < batch_; ++b) {
        rows[b] = is_over(s, b) ? nullptr : inputs.data() + x_row(time_of(d, s, b), b) * cell.row();
      }
      step(cell, rows);
      for (uint64_t b = 0; b < batch_; ++b) {
        if (rows[b]) std::copy_n(cell.h.data() + b * hidden_, hidden_, y_.data() + y_place(time_of(d, s, b), d, b));
      }
    }
    // A sequence without steps has zeros for a last state.
    for (uint64_t b = 0; b < batch_; ++b) {
      if (lengths_[b] == 0) continue;
      std::copy_n(cell.h.data() + b * hidden_, hidden_, last_h_.data() + state_place(d, b));
      if (kind_.has_cell) std::copy_n(cell.c.data() + b * hidden_, hidden_, last_c_.data() + state_place(d, b));
    }
  }

  bool is_over(uint64_t s, uint64_t b) const { return static_cast<int64_t>(s) >= lengths_[b]; }
  uint64_t time_of(uint64_t d, uint64_t s, uint64_t b) const {
    return goes_back(node_, d) ? static_cast<uint64_t>(lengths_[b]) - 1 - s : s;
  }
  uint64_t x_row(uint64_t t, uint64_t b) const { return is_turned_ ? b * length_ + t : t * batch_ + b; }

  Eval& node_;
  const RecurrentKind& kind_;
  bool is_turned_;
  uint64_t directions_;
  uint64_t length_ = 0, batch_ = 0, input_ = 0, hidden_ = 0;
  std::vector<int64_t> lengths_;
  std::vector<double> y_, last_h_, last_c_;
};

}  // namespace

void infer_recurrent(Infer& node, const RecurrentKind& kind) {
  read_recurrent_activations(node, kind.activations.size() * directions_of(node), kind.activations);
  if (node.floating("clip", 0) < 0) fail(ErrorCode::shape, "attribute `clip` is {}", node.floating("clip"));
  const RecurrentDims d = read_dims(node, kind);
  const Dim directions = static_cast<int64_t>(directions_of(node));
  const bool is_turned = is_batch_first(node);
  if (node.output_count() > 0) {
    node.set_dims(
        0, is_turned ? Dims{d.batch, d.length, directions, d.hidden} : Dims{d.length, directions, d.batch, d.hidden});
  }
  const Dims state = is_turned ? Dims{d.batch, directions, d.hidden} : Dims{directions, d.batch, d.hidden};
  node.set_dims(1, state);
  if (kind.has_cell) node.set_dims(2, state);
}

Dim recurrent_macs(const Infer& node) {
  if (!node.is_ranked(kX) || !node.is_ranked(kW) || !node.is_ranked(kR)) return {};
  const Dims& x = node.dims(kX);
  return x[0] * x[1] * (product(node.dims(kW)) + product(node.dims(kR)));
}

double RecurrentCell::activate(size_t which, double x) const {
  return activations[which](clip > 0 && !std::isnan(x) ? std::clamp(x, -clip, clip) : x);
}

std::vector<double> RecurrentCell::recur(const std::vector<double>& from, uint64_t first, uint64_t count) const {
  if (!has_codes) return multiply({batch, count * hidden, hidden}, from, recurrence, row(), first * hidden);
  std::vector<double> rounded = from;
  round_to_codes(rounded, is_wide, code_draw);
  return multiply({batch, count * hidden, hidden}, rounded, recurrence, row(), first * hidden);
}

void eval_recurrent(Eval& node, const RecurrentKind& kind, RecurrentStep step) { Run(node, kind).run(step); }

}  // namespace assay::ops
