#pragma once

#include <string>

#include "engine/devices/cuda/launch.h"
#include "engine/layers/compressed_product.h"

namespace assay::engine::cuda {

// The constant matrix of a compressed product in the card's memory: by column its codes, less whatever sign they have,
// in units that a thread reads at once, then the scales of all blocks, and their zero points.
struct CompressedOperand {
  Buffer bytes;  // empty until it is packed
  int64_t depth = 0, columns = 0, block = 0, blocks = 0;
  int64_t unit = 0;   // codes
  int64_t units = 0;  // of a block, which is filled up to whole ones
  int bits = 8;
  bool are_scales_halves = false;
  bool are_zeros_whole = true;
  bool has_zeros = false;
  float zero = 0;  // of all blocks, if they have none

  int64_t positions() const { return blocks * units * unit; }  // of a column
  int64_t scales_offset() const { return columns * positions() * bits / 8; }
  int64_t zeros_offset() const;
  int64_t size_bytes() const;
};

// `packs`: the matrix is made ready.
CompressedOperand compressed_operand(const Layer& layer, const CompressedProduct& product, bool packs);
// The text that reads its weights, with the numbers and pointers that the launch is given.
std::string codes_text(const CompressedOperand& operand, Launch& launch);

}  // namespace assay::engine::cuda
