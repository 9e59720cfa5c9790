#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/function_ref.h"
#include "engine/devices/cpu/integers/finish_kernels.h"

namespace assay::engine::cpu {

// Rows of words, found in several places one after the other. A word is a float32, a pair of bfloat16, or some codes,
// whose products are summed up.
struct TileRows {
  const float* const* places = nullptr;  // of a row: one for each step; `place_step` from one row to the next
  size_t place_step = 1;
  size_t rows = 1;
  size_t steps = 1;
  // The order of rows among the places, sums and numbers that are added, and of steps among the places and the panel;
  // both or none, which means one after the other. For sums of floats that stay where they are.
  const uint16_t* order = nullptr;
  const uint8_t* chosen = nullptr;
  size_t depth = 0;   // words in each place
  int64_t first = 0;  // the first of them
  // Products that are added one after the other; the sum of such a chain is added to those before it, so that fewer
  // roundings meet large sums. Heeded for float32 without `order`.
  size_t chain = SIZE_MAX;
  // The sums of the products, in rows of the most vectors, where they were computed before. Null: they were not.
  const float* summed = nullptr;
};

// Columns by which rows are multiplied.
struct TilePanel {
  const float* panel = nullptr;  // steps * depth rows of words, which hold half as many bytes where two are codes
  const float* ahead = nullptr;  // prefetched: address of the next panel
  size_t ahead_step = 0;         // bytes of it for each row of the panel that is read
};

// Sums, and what becomes of them. Those of codes are whole numbers, and nothing but `starts` is added to them.
struct TileResult {
  float* sums = nullptr;
  int64_t sums_row = 0;           // from one to the next
  bool continues = false;         // adds to what is there
  const float* starts = nullptr;  // begins of each row's sums, unless they continue; null: zeros
  // Numbers for each row of codes that are added, times one for each column, to sums that begin anew; null: none.
  const int32_t* row_sums = nullptr;
  const int32_t* row_factors = nullptr;
  const float* bias = nullptr;    // is added to each row when it is summed up; null: nothing
  const void* added = nullptr;    // likewise, row by row, in the type of the numbers
  const float* bounds = nullptr;  // two, of what is written; null: none
  void* out = nullptr;            // of that type, in place of `sums`; null: they are the result
  int64_t out_row = 0;            // from one to the next; those of `added` likewise
  // Columns of the last vector that results, biases and what is added have; 0: all. For kernels with masks.
  size_t last = 0;
  // The steps that make codes of the sums, but for its own `sums` and `rows`, in place of `sums`; for kernels that make
  // codes. Null: sums are the result.
  const FinishRows* finish = nullptr;
  int64_t element = 0;  // of its result, where the first row belongs
  // Takes the sums of the next rows from their place, which those of others then have. Null: all sums are kept.
  const FunctionRef<void(size_t rows)>* take = nullptr;
};

// Some rows of a result by the columns of one panel. The sums of as many rows as registers hold are computed at once.
struct Tile : TileRows, TilePanel, TileResult {};

// Loops over tiles, for one instruction set.
struct TileKernels {
  const char* name;
  size_t width;                         // columns of a vector
  size_t most_vectors;                  // of a panel, side by side
  size_t (*most_rows)(size_t vectors);  // at once
  void (*multiply)(const Tile& tile, size_t vectors);
  // The number of codes in a word: four as they are, or two, which in rows are of 16 bits and in panels of 8; 0: words
  // of floats.
  int64_t codes = 0;
  // Sums become codes, by all steps but GELU and sums with floats, where columns are a multiple of so many; 0: none do.
  size_t code_columns = 0;
  int32_t offset = 0;      // is added to codes of rows when they are multiplied
  bool has_masks = false;  // tiles may leave out columns of the last vector
};

// The best that this processor has.
const TileKernels& tile_kernels();
// The best for so many columns: with vectors of half the size, where whole ones would be empty to a fifth, or, if the
// processor multiplies whole ones as fast, where one of half the size is enough.
const TileKernels& tile_kernels(int64_t columns);
// Kernels with vectors of half the size; null: this processor has none beside the others.
const TileKernels* half_tile_kernels();
// For pairs of bfloat16, whose denormals count as zero; null: it has no instructions for them.
const TileKernels* pair_kernels();
// Likewise, by vectors or on AMX tiles.
const TileKernels* vector_pair_kernels();
const TileKernels* amx_pair_kernels();
// For codes of 8 bits in rows, which have a sign or none, by constants that have one.
const TileKernels& code_kernels(bool are_signed);
const TileKernels& vector_code_kernels(bool are_signed);
const TileKernels* amx_code_kernels(bool are_signed);  // null: this processor has no AMX tiles for them
// For pairs of whole numbers of 16 bits, in rows and panels; sums are kept modulo 2^32. Null: it has no instructions
// for them.
const TileKernels* wide_code_kernels();
// All for float32 that this processor has, for tests.
std::span<const TileKernels* const> all_tile_kernels();

}  // namespace assay::engine::cpu
