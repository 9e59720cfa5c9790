#pragma once

#include <optional>
#include <vector>

#include "engine/layers/layer.h"

namespace assay::engine {

enum class CellFunction : uint8_t { sigmoid, tanh, relu };

// A direction's functions.
struct RecurrentCell {
  CellFunction functions[3] = {};  // in the operator's order
  float clip = 0;                  // of what functions are given; infinity: none
  bool couples = false;            // an LSTM's forget gate is what its input gate leaves
};

// The computation of an RNN, GRU or LSTM of float32, or of an LSTM with weights of codes, for which X and the state
// become codes before each product.
struct Recurrence {
  enum class Operator : uint8_t { rnn, gru, lstm };
  static constexpr int kX = 0, kW = 1, kR = 2, kBias = 3, kLengths = 4, kH = 5, kC = 6, kPeepholes = 7;  // inputs
  static constexpr int kScaleOfW = 8, kScaleOfR = 10;  // each with its zero point behind it

  Operator op = Operator::rnn;
  int64_t length = 0, batch = 0, input = 0, hidden = 0;
  int64_t gates = 1;
  int64_t directions = 1;
  bool goes_back = false;            // in the first direction
  bool is_batch_first = false;       // in X, Y and states
  bool has_codes = false;            // of 8 bits, [directions, depth, gates * hidden]
  bool resets_after = false;         // a GRU's state, when it has been multiplied
  std::vector<RecurrentCell> cells;  // of the directions
  std::vector<bool> has_inputs;      // by index; those after the end are not there

  bool has(int index) const {
    return static_cast<size_t>(index) < has_inputs.size() && has_inputs[static_cast<size_t>(index)];
  }
  bool goes_back_in(int64_t direction) const { return goes_back || direction == 1; }
  // The begin of hidden elements, and the row of X.
  int64_t state_at(int64_t direction, int64_t entry) const;
  int64_t y_at(int64_t time, int64_t direction, int64_t entry) const;
  int64_t x_row(int64_t time, int64_t entry) const;
};

// Nullopt: another layer, or one with other functions, other types, or computed weights.
std::optional<Recurrence> find_recurrence(const Layer& layer);

// Weights of codes of one direction.
struct RecurrentCodes {
  int input = 0;  // of the layer
  int64_t direction = 0;
  tensor::Tensor weights;      // int8 [depth, gates * hidden]
  std::vector<float> scales;   // of the columns
  std::vector<int32_t> zeros;  // likewise; empty: all are 0
};

RecurrentCodes codes_of(const Layer& layer, const Recurrence& recurrence, int64_t direction, int input);

}  // namespace assay::engine
