#include "engine/devices/cpu/recurrent/direction.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/panels/panel_kernels.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/recurrent/cell_kernels.h"
#include "engine/devices/cpu/recurrent/coded_gates.h"

namespace assay::engine::cpu {
namespace {

constexpr auto kColumns = static_cast<int64_t>(kPanel);
constexpr int64_t kGrain = 1 << 17;  // multiplications of a piece
constexpr int64_t kRowsAtOnce = 64;

// Rows of numbers, one after the other.
struct Rows {
  const float* numbers;
  int64_t count;
  int64_t depth;
  int64_t pitch;
};

// Adds rows * panels [first, first + count) to `out`, whose rows are `out_row` apart.
void add_product(const Rows& rows, const float* panels, float* out, int64_t out_row, int64_t count) {
  const auto grain = static_cast<uint64_t>(std::max<int64_t>(1, kGrain / (rows.count * rows.depth * kColumns)));
  parallel_for(static_cast<uint64_t>(count), grain, [&](uint64_t begin, uint64_t end) {
    for (auto panel = static_cast<int64_t>(begin); panel < static_cast<int64_t>(end); ++panel) {
      panel_kernels().multiply({.left = rows.numbers,
                                .left_row = rows.pitch,
                                .out = out + panel * kColumns,
                                .out_row = out_row,
                                .rows = static_cast<size_t>(rows.count),
                                .depth = static_cast<size_t>(rows.depth)},
                               panels + panel * kColumns * rows.depth, kColumns);
    }
  });
}

// Memory of a direction between its steps.
struct Scratch {
  float* inputs;     // products with X, of each row of it
  float* gates;      // of one step
  float* own;        // of a GRU: what its reset gate applies to
  float* reset;      // of a GRU: the state that is let through
  float* h;          // of each entry of the batch
  float* c;          // likewise
  float* bias;       // of the gates
  float* own_bias;   // of `own`
  float* peepholes;  // of an LSTM
  float* codes;      // of X or the state

  static int64_t count(const Recurrence& r) {
    const int64_t row = panel_row(r), width = panel_width(r);
    return r.length * r.batch * row + r.batch * (row + 4 * width) + row + 4 * width + code_count(r);
  }
  static int64_t code_count(const Recurrence& r) {
    if (!r.has_codes) return 0;
    const uint64_t bytes = std::max(CodedGates::scratch_bytes(r.length * r.batch, r.input),
                                    CodedGates::scratch_bytes(r.batch, panel_width(r)));
    return static_cast<int64_t>(bytes / sizeof(float));
  }
  Scratch(const Recurrence& r, float* at) {
    const int64_t row = panel_row(r), width = panel_width(r);
    const auto take = [&](float*& part, int64_t size) {
      part = at;
      at += size;
    };
    take(inputs, r.length * r.batch * row);
    take(gates, r.batch * row);
    for (float** part : {&own, &reset, &h, &c}) take(*part, r.batch * width);
    take(bias, row);
    take(own_bias, width);
    take(peepholes, 3 * width);
    take(codes, code_count(r));
  }
};

class Direction {
 public:
  Direction(const RecurrentRun& run, int64_t number, const DirectionWeights& weights)
      : run_(run),
        r_(run.r),
        number_(number),
        width_(panel_width(r_)),
        row_(panel_row(r_)),
        kind_{r_.cells[static_cast<size_t>(number)], static_cast<size_t>(width_)},
        weights_(weights),
        scratch_(r_, host<float>(run.arguments.workspace) + number * Scratch::count(r_)) {
    fill_biases();
    fill_states();
    multiply_inputs();
  }

  void run() {
    for (int64_t s = 0; s < r_.length; ++s) {
      for (int64_t b = 0; b < r_.batch; ++b) {
        if (!is_over(s, b)) std::copy_n(inputs_of(time_of(s, b), b), row_, scratch_.gates + b * row_);
      }
      step(s);
      for (int64_t b = 0; b < r_.batch && run_.output(0) != nullptr; ++b) {
        if (is_over(s, b)) continue;
        std::copy_n(scratch_.h + b * width_, r_.hidden, run_.output(0) + r_.y_at(time_of(s, b), number_, b));
      }
    }
    finish(1, scratch_.h);
    finish(2, scratch_.c);
  }

 private:
  // Rows of gates of `size` elements in `from`, with zeros after each.
  void widen(const float* from, int64_t gates, float* to) const {
    for (int64_t gate = 0; gate < gates; ++gate, from += r_.hidden, to += width_) {
      std::copy_n(from, r_.hidden, to);
      std::fill(to + r_.hidden, to + width_, 0.0F);
    }
  }

  void fill_biases() {
    std::fill_n(scratch_.bias, row_ + width_, 0.0F);
    if (r_.has(Recurrence::kPeepholes)) {
      widen(run_.input(Recurrence::kPeepholes) + number_ * 3 * r_.hidden, 3, scratch_.peepholes);
    }
    if (!r_.has(Recurrence::kBias)) return;
    const float* const given = run_.input(Recurrence::kBias) + number_ * 2 * r_.gates * r_.hidden;
    const float* const own = given + r_.gates * r_.hidden;
    widen(given, r_.gates, scratch_.bias);
    const int64_t added = r_.gates - (r_.resets_after ? 1 : 0);
    for (int64_t i = 0; i < added * r_.hidden; ++i) {
      scratch_.bias[i / r_.hidden * width_ + i % r_.hidden] += own[i];
    }
    if (r_.resets_after) widen(own + added * r_.hidden, 1, scratch_.own_bias);
  }

  void fill_states() {
    for (const auto& [input, state] : {std::pair(Recurrence::kH, scratch_.h), std::pair(Recurrence::kC, scratch_.c)}) {
      std::fill_n(state, r_.batch * width_, 0.0F);
      for (int64_t b = 0; b < r_.batch && r_.has(input); ++b) {
        widen(run_.input(input) + r_.state_at(number_, b), 1, state + b * width_);
      }
    }
  }

  std::byte* codes() const { return reinterpret_cast<std::byte*>(scratch_.codes); }

  void multiply_inputs() {
    const auto rows = static_cast<uint64_t>(r_.length * r_.batch);
    if (weights_.coded_w != nullptr) {
      for (uint64_t row = 0; row < rows; ++row)
        std::copy_n(scratch_.bias, row_, scratch_.inputs + static_cast<int64_t>(row) * row_);
      return weights_.coded_w->add_product({run_.input(Recurrence::kX), static_cast<int64_t>(rows), r_.input}, codes(),
                                           scratch_.inputs);
    }
    parallel_for(rows, kRowsAtOnce, [&](uint64_t begin, uint64_t end) {
      const auto first = static_cast<int64_t>(begin);
      float* const out = scratch_.inputs + first * row_;
      const auto count = static_cast<int64_t>(end - begin);
      for (int64_t row = 0; row < count; ++row) std::copy_n(scratch_.bias, row_, out + row * row_);
      add_product({run_.input(Recurrence::kX) + first * r_.input, count, r_.input, r_.input}, weights_.w, out, row_,
                  row_ / kColumns);
    });
  }

  bool is_over(int64_t s, int64_t b) const { return s >= run_.lengths[static_cast<size_t>(b)]; }
  int64_t time_of(int64_t s, int64_t b) const {
    return r_.goes_back_in(number_) ? run_.lengths[static_cast<size_t>(b)] - 1 - s : s;
  }
  const float* inputs_of(int64_t time, int64_t b) const { return scratch_.inputs + r_.x_row(time, b) * row_; }

  // Adds the state times the recurrent weights of gates [first, end).
  void recur(const float* state, int64_t first, int64_t end, float* out, int64_t out_row) const {
    if (weights_.coded_recurrence != nullptr)
      return weights_.coded_recurrence->add_product({state, r_.batch, width_}, codes(), out);
    add_product({state, r_.batch, r_.hidden, width_}, weights_.recurrence + first * width_ * r_.hidden, out, out_row,
                (end - first) * width_ / kColumns);
  }

  CellRow row(int64_t b) const {
    return {.gates = scratch_.gates + b * row_,
            .own = r_.resets_after ? scratch_.own + b * width_ : nullptr,
            .peepholes = r_.has(Recurrence::kPeepholes) ? scratch_.peepholes : nullptr,
            .h = scratch_.h + b * width_,
            .c = scratch_.c + b * width_};
  }
  template <typename Fn>
  void for_rows(int64_t s, Fn&& fn) const {
    for (int64_t b = 0; b < r_.batch; ++b) {
      if (!is_over(s, b)) fn(b);
    }
  }

  void step(int64_t s) {
    if (r_.op == Recurrence::Operator::gru) return step_gru(s);
    recur(scratch_.h, 0, r_.gates, scratch_.gates, row_);
    const auto cell = r_.op == Recurrence::Operator::rnn ? cell_kernels().rnn : cell_kernels().lstm;
    for_rows(s, [&](int64_t b) { cell(kind_, row(b)); });
  }

  void step_gru(int64_t s) {
    recur(scratch_.h, 0, 2, scratch_.gates, row_);
    for_rows(s, [&](int64_t b) { cell_kernels().gru_gates(kind_, row(b), scratch_.reset + b * width_); });
    if (r_.resets_after) {
      for (int64_t b = 0; b < r_.batch; ++b) std::copy_n(scratch_.own_bias, width_, scratch_.own + b * width_);
      recur(scratch_.h, 2, 3, scratch_.own, width_);
    } else {
      recur(scratch_.reset, 2, 3, scratch_.gates + 2 * width_, row_);
    }
    for_rows(s, [&](int64_t b) { cell_kernels().gru(kind_, row(b)); });
  }

  // A sequence without steps has zeros for a last state.
  void finish(size_t output, const float* state) const {
    if (run_.output(output) == nullptr) return;
    for (int64_t b = 0; b < r_.batch; ++b) {
      float* const to = run_.output(output) + r_.state_at(number_, b);
      std::copy_n(state + b * width_, r_.hidden, to);
      if (run_.lengths[static_cast<size_t>(b)] == 0) std::fill_n(to, r_.hidden, 0.0F);
    }
  }

  const RecurrentRun& run_;
  const Recurrence& r_;
  int64_t number_;
  int64_t width_, row_;
  CellKind kind_;
  DirectionWeights weights_;
  Scratch scratch_;
};

}  // namespace

int64_t panel_width(const Recurrence& r) { return rounded_up(r.hidden, kColumns); }

int64_t scratch_count(const Recurrence& recurrence) { return Scratch::count(recurrence); }

void run_direction(const RecurrentRun& run, int64_t number, const DirectionWeights& weights) {
  Direction(run, number, weights).run();
}

}  // namespace assay::engine::cpu
