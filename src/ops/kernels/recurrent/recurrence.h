#pragma once

#include <span>
#include <vector>

#include "base/function_ref.h"
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/kernels/recurrent/recurrent_activations.h"

namespace assay::ops {

// The common form of RNN, GRU and LSTM: their inputs X, W, R, B, sequence_lens, initial_h and outputs Y, Y_h; the last
// also has initial_c, P and Y_c.
struct RecurrentKind {
  uint64_t gates;  // each of `hidden` rows of W and R
  bool has_cell = false;
  std::span<const std::string_view> activations;  // of one direction
  // W and R are [directions, columns of X or h, gates * hidden] of 8 bits, with a scale and a zero point for each
  // direction, or each column of one, in the four operands behind P; X and h become 8 bits before each product.
  bool has_codes = false;
};

void infer_recurrent(Infer& node, const RecurrentKind& kind);
Dim recurrent_macs(const Infer& node);

// State and parameters of one direction. Matrices are row-major; gates lie behind each other in a row.
struct RecurrentCell {
  uint64_t batch = 0;
  uint64_t hidden = 0;
  uint64_t gates = 0;
  std::vector<double> recurrence;            // [hidden, gates * hidden]: R the other way round
  std::vector<double> input_bias, own_bias;  // [gates * hidden]
  std::vector<double> peepholes;             // [3 * hidden], empty if none
  std::vector<RecurrentActivation> activations;
  double clip = 0;           // 0: none
  bool has_codes = false;    // h becomes 8 bits before it is multiplied
  bool is_wide = false;      // scales of these are not rounded to float32
  uint64_t code_draw = 0;    // Eval::code_draw
  std::vector<double> h, c;  // [batch, hidden]

  uint64_t row() const { return gates * hidden; }
  // Activation number `which` of a value that is clipped before.
  double activate(size_t which, double x) const;
  // from [batch, hidden] · recurrence, of `count` gates from `first` on: [batch, count * hidden].
  std::vector<double> recur(const std::vector<double>& from, uint64_t first, uint64_t count) const;
};

// One step of a cell: `inputs` are the rows X·W of each batch entry, nullptr for those that have ended.
using RecurrentStep = FunctionRef<void(RecurrentCell& cell, std::span<const double* const> inputs)>;

// Runs all directions and sets the outputs.
void eval_recurrent(Eval& node, const RecurrentKind& kind, RecurrentStep step);

}  // namespace assay::ops
