#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/layers/recurrence.h"

namespace assay::engine::cpu {

// The gates of a row lie one after the other, each of `width` numbers, a multiple of 16.
struct CellKind : RecurrentCell {
  size_t width = 0;
};

// One entry of a batch: gates that are summed up, and the state that they change.
struct CellRow {
  float* gates = nullptr;
  const float* own = nullptr;        // of a GRU whose reset gate applies to it; null: it is part of the gates
  const float* peepholes = nullptr;  // of an LSTM: input, output, forget; null: none
  float* h = nullptr;
  float* c = nullptr;
};

// Sums of products of codes: less `zero` times `by_zero` of each, they are whole multiples of the scales.
struct ScaledSums {
  std::span<const int32_t> sums;
  const int32_t* by_zero;
  int32_t zero;
  const float* scales;
  float scale;  // of all
};

// A step of a recurrent operator after its products, for one instruction set.
struct CellKernels {
  void (*rnn)(const CellKind& kind, const CellRow& row);
  // The gates update and reset of a GRU in place; `reset` becomes the state that is let through.
  void (*gru_gates)(const CellKind& kind, const CellRow& row, float* reset);
  void (*gru)(const CellKind& kind, const CellRow& row);
  void (*lstm)(const CellKind& kind, const CellRow& row);
  // Adds the numbers of a whole count of vectors.
  void (*add_scaled)(const ScaledSums& sums, float* out);
};

// The best that this processor has.
const CellKernels& cell_kernels();
// All that this processor has, for tests.
std::span<const CellKernels* const> all_cell_kernels();

}  // namespace assay::engine::cpu
