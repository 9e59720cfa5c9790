#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::engine::cpu {

// A matrix on the right of products lies as panels: this many columns, row by row.
inline constexpr size_t kPanel = 32;

// Rows of a product with one panel, which is added to `out`.
struct PanelRows {
  const float* left = nullptr;  // rows of `depth` numbers
  int64_t left_row = 0;         // from one to the next, as below
  float* out = nullptr;         // rows of kPanel numbers
  int64_t out_row = 0;
  size_t rows = 1;
  size_t depth = 0;
};

// Loops over panels, for one instruction set.
struct PanelKernels {
  const char* name;
  void (*multiply)(const PanelRows& rows, const float* panel, int64_t panel_row);
};

// The best that this processor has.
const PanelKernels& panel_kernels();
// All that this processor has, for tests.
const PanelKernels* const* all_panel_kernels(size_t& count);

}  // namespace assay::engine::cpu
