#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "engine/devices/cpu/processor.h"
#include "engine/devices/cpu/tiles/amx_blocks.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"

namespace assay::engine::cpu {

#if defined(__x86_64__)
namespace {

constexpr size_t kMostRows[] = {0, 12, 12, 8, 6};  // that are finished at once
constexpr bool kReadsSums = true;

size_t rows_of_block(size_t) { return AmxBlocks::kMostRows; }

// Rows of as many bytes, to be written or read.
template <int kWrites>
void prefetch_rows(const void* first, int64_t row, size_t rows, size_t bytes) {
  constexpr size_t kLine = 64;
  const auto* from = static_cast<const char*>(first);
  for (size_t r = 0; r < rows; ++r, from += row) {
    for (size_t byte = 0; byte < bytes; byte += kLine) __builtin_prefetch(from + byte, kWrites);
  }
}

// Fetches the places of results while their sums are computed.
template <typename T>
void prefetch_results(const Tile& tile, size_t rows, size_t columns) {
  const int64_t row = tile.out_row * static_cast<int64_t>(sizeof(T));
  if (tile.out != nullptr) prefetch_rows<1>(tile.out, row, rows, columns * sizeof(T));
  if (tile.added != nullptr) prefetch_rows<0>(tile.added, row, rows, columns * sizeof(T));
  if (tile.finish == nullptr) return;
  const FinishRows& finish = *tile.finish;
  prefetch_rows<1>(static_cast<std::byte*>(finish.out) + tile.element, finish.out_row, rows, columns);
  for (size_t i = 0; i < finish.step_count; ++i) {
    const void* const added = finish.steps[i].added;
    if (added != nullptr)
      prefetch_rows<0>(static_cast<const std::byte*>(added) + tile.element, finish.out_row, rows, columns);
  }
}

namespace amx_codes {
constexpr size_t kBytes = 64;
constexpr bool kFlips = false;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/code_words_body.h"
#include "engine/devices/cpu/words/panel_words_body.h"
constexpr bool kMakesCodes = true;
#include "engine/devices/cpu/tiles/finished_codes_body.h"
#include "engine/devices/cpu/tiles/tile_kernels_body.h"

template <amx::Words kWords>
ASSAY_KERNEL void multiply_blocks(const Tile& given, size_t vectors) {
  // Rows of short pieces cost more to copy than vectors need for all of it. They read codes without a sign as they are.
  const bool are_short = given.steps > 1 && given.depth < amx::kWords;
  if (kWords == amx::Words::plain_codes && are_short) return vector_code_kernels(false).multiply(given, vectors);
  AmxBlocks blocks(given, vectors, kWords);
  Tile tile = given;
  // A block is finished while the next one is multiplied.
  for (AmxBlocks::Block block = blocks.next(); block.rows > 0;) {
    prefetch_results<Element>(tile, block.rows, vectors * kWidth);
    const AmxBlocks::Block following = blocks.next();
    tile.summed = block.sums;
    tile.rows = block.rows;
    multiply_vectors<kMostVectors>(tile, vectors, &tile);
    block = following;
  }
}
#undef ASSAY_KERNEL
constexpr TileKernels kPlain = {
    "amx_int8", kWidth, kMostVectors, rows_of_block, multiply_blocks<amx::Words::plain_codes>, 4, 1};
constexpr TileKernels kSigned = {
    "amx_int8_signed", kWidth, kMostVectors, rows_of_block, multiply_blocks<amx::Words::signed_codes>, 4, 1};
}  // namespace amx_codes

namespace amx_pairs {
constexpr size_t kBytes = 64;
#define ASSAY_KERNEL [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma")]]
#include "engine/devices/cpu/vector_math_body.h"
#include "engine/devices/cpu/words/pair_words_body.h"
constexpr bool kMakesCodes = false;
#include "engine/devices/cpu/tiles/tile_kernels_body.h"

ASSAY_KERNEL void multiply_blocks(const Tile& given, size_t vectors) {
  AmxBlocks blocks(given, vectors, amx::Words::pairs);
  Tile tile = given;
  // A block is finished while the next one is multiplied.
  for (AmxBlocks::Block block = blocks.next(); block.rows > 0;) {
    prefetch_results<Element>(tile, block.rows, vectors * kWidth);
    const AmxBlocks::Block following = blocks.next();
    tile.summed = block.sums;
    tile.rows = block.rows;
    multiply_vectors<kMostVectors>(tile, vectors, &tile);
    block = following;
  }
}
#undef ASSAY_KERNEL
constexpr TileKernels kKernels = {"amx_bf16", kWidth, kMostVectors, rows_of_block, multiply_blocks};
}  // namespace amx_pairs

}  // namespace
#endif

const TileKernels* amx_code_kernels([[maybe_unused]] bool are_signed) {
#if defined(__x86_64__)
  if (has_amx_int8()) return are_signed ? &amx_codes::kSigned : &amx_codes::kPlain;
#endif
  return nullptr;
}

const TileKernels* amx_pair_kernels() {
#if defined(__x86_64__)
  if (has_amx_bf16()) return &amx_pairs::kKernels;
#endif
  return nullptr;
}

}  // namespace assay::engine::cpu
