#pragma once

#include <optional>
#include <vector>

#include "engine/devices/cpu/recurrent/cell_kernels.h"
#include "engine/layers/layer.h"

namespace assay::engine::cpu {

// The computation of an RNN, GRU or LSTM of float32.
struct Recurrence {
  enum class Operator : uint8_t { rnn, gru, lstm };
  static constexpr int kX = 0, kW = 1, kR = 2, kBias = 3, kLengths = 4, kH = 5, kC = 6, kPeepholes = 7;  // inputs

  Operator op = Operator::rnn;
  int64_t length = 0, batch = 0, input = 0, hidden = 0;
  int64_t gates = 1;
  int64_t directions = 1;
  bool goes_back = false;        // in the first direction
  bool is_batch_first = false;   // in X, Y and states
  bool resets_after = false;     // a GRU's state, when it has been multiplied
  bool has_lengths = false;      // of sequences, as an input
  std::vector<CellKind> kinds;   // of the directions
  std::vector<bool> has_inputs;  // by index; those after the end are not there

  bool has(int index) const {
    return static_cast<size_t>(index) < has_inputs.size() && has_inputs[static_cast<size_t>(index)];
  }
  // Hidden elements with as many zeros as make them whole panels.
  int64_t width() const;
  int64_t row() const { return gates * width(); }
  bool goes_back_in(int64_t direction) const { return goes_back || direction == 1; }
  // The begin of hidden elements, and the row of X.
  int64_t state_at(int64_t direction, int64_t entry) const;
  int64_t y_at(int64_t time, int64_t direction, int64_t entry) const;
  int64_t x_row(int64_t time, int64_t entry) const;
};

// nullopt: no such layer, or it has functions, types or shapes that the kernels do not compute, or computed weights.
std::optional<Recurrence> find_recurrence(const Layer& layer);

}  // namespace assay::engine::cpu
