#pragma once

#include "engine/devices/cpu/attention/attention_blocks.h"
#include "engine/devices/cpu/panels/panel_kernels.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu {

// Rows, or keys.
struct AttentionRange {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// Memory of a lane.
struct AttentionScratch {
  static constexpr int64_t kColumns = static_cast<int64_t>(kPanel);
  static constexpr int64_t kQueries = 16;  // whose scores are computed at a time
  static constexpr int64_t kKeys = 256;    // of a block

  // For chunks of so many queries; of no memory, for its size.
  AttentionScratch(float* memory, const AttentionGeometry& geometry, int64_t chunk);

  int64_t size = 0;                           // in floats
  float* sums;                                // of a chunk
  float* scores;                              // kKeys words for each query, of which weights are made in place
  float *keys, *values;                       // of a block
  std::array<FloatRows, 2> value_parts = {};  // parts of values that are not packed
  float *rows, *halves;                       // on the way to where they are multiplied; of 16 bits
  float* mask;
  SoftmaxSoFar* states;  // of a chunk
};

// Queries of an item.
struct AttentionChunk {
  const Arguments& arguments;
  AttentionScratch& scratch;
  int64_t item;
  AttentionRange rows;
  bool keeps_keys, keeps_values;
};

// The operands of an attention.
struct AttentionOperands {
  explicit AttentionOperands(AttentionGeometry geometry);

  const std::byte* place(const Matrices& matrices, const AttentionChunk& chunk, int64_t row,
                         int64_t element_bytes) const;
  template <typename T>
  const T* at(const Matrices& matrices, const AttentionChunk& chunk, int64_t row = 0) const {
    return reinterpret_cast<const T*>(place(matrices, chunk, row, sizeof(T)));
  }
  int64_t item_count() const;
  // Queries that keys are packed for at once.
  int64_t chunk() const;
  // The number of first keys that a row sees, whatever its mask hides.
  int64_t seen_by(const AttentionChunk& chunk, int64_t row) const;

  bool is_widened() const { return g.dtype != tensor::DType::float32; }
  // Queries where they are, or widened.
  FloatRows queries(const AttentionChunk& chunk, AttentionRange rows) const;
  std::array<FloatRows, 2> read_keys(const AttentionChunk& chunk, AttentionRange wanted, float* tile) const;
  std::array<FloatRows, 2> read_values(const AttentionChunk& chunk, AttentionRange wanted, float* tile,
                                       int64_t row) const;

  AttentionGeometry g;
  int64_t width;          // of whole panels of values
  bool has_large_caches;  // more than what stays in the processor's
  AttentionRows keys, values;
};

}  // namespace assay::engine::cpu
