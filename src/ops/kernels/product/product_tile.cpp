#include "ops/kernels/product/product_tile.h"

#include <utility>
#include <vector>

namespace assay::ops {
namespace {

// A macro, because neither a template argument nor inlining can bring the instruction set to vectors of its width.
// The product and the sum are separate operations on purpose: each rounds.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define ASSAY_TILE_KERNEL(type, name, vector_bytes, vectors, attributes)                           \
  template <int kRows>                                                                             \
  attributes void name(const type* a, const type* b, uint64_t b_stride, uint64_t depth, type* c) { \
    using Vector [[gnu::vector_size(vector_bytes), gnu::may_alias]] = type;                        \
    Vector sums[kRows][vectors];                                                                   \
    Vector* out = reinterpret_cast<Vector*>(c);                                                    \
    _Pragma("GCC unroll 8") for (int r = 0; r < kRows; ++r) {                                      \
      _Pragma("GCC unroll 4") for (int v = 0; v < vectors; ++v) sums[r][v] = out[r * vectors + v]; \
    }                                                                                              \
    for (uint64_t k = 0; k < depth; ++k, a += kRows, b += b_stride) {                              \
      const Vector* in = reinterpret_cast<const Vector*>(b);                                       \
      _Pragma("GCC unroll 8") for (int r = 0; r < kRows; ++r) {                                    \
        _Pragma("GCC unroll 4") for (int v = 0; v < vectors; ++v) {                                \
          const Vector product = a[r] * in[v];                                                     \
          sums[r][v] = sums[r][v] + product;                                                       \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
    _Pragma("GCC unroll 8") for (int r = 0; r < kRows; ++r) {                                      \
      _Pragma("GCC unroll 4") for (int v = 0; v < vectors; ++v) out[r * vectors + v] = sums[r][v]; \
    }                                                                                              \
  }
// NOLINTEND(bugprone-macro-parentheses)

#if defined(__aarch64__)
ASSAY_TILE_KERNEL(double, tile_base, 16, 4, )
ASSAY_TILE_KERNEL(float, float_tile_base, 16, 4, )
constexpr uint64_t kBaseColumns = 8;
#else
ASSAY_TILE_KERNEL(double, tile_base, 16, 2, )
ASSAY_TILE_KERNEL(float, float_tile_base, 16, 2, )
constexpr uint64_t kBaseColumns = 4;
#endif
constexpr TileKernel<double> kBase[] = {tile_base<1>, tile_base<2>, tile_base<3>,
                                        tile_base<4>, tile_base<5>, tile_base<6>};
constexpr TileKernel<float> kFloatBase[] = {float_tile_base<1>, float_tile_base<2>, float_tile_base<3>,
                                            float_tile_base<4>, float_tile_base<5>, float_tile_base<6>};

#if defined(__x86_64__)
ASSAY_TILE_KERNEL(double, tile_avx512, 64, 3, [[gnu::target("avx512f")]])
ASSAY_TILE_KERNEL(double, tile_avx2, 32, 2, [[gnu::target("avx2")]])
ASSAY_TILE_KERNEL(float, float_tile_avx2, 32, 2, [[gnu::target("avx2")]])
constexpr TileKernel<double> kAvx512[] = {tile_avx512<1>, tile_avx512<2>, tile_avx512<3>, tile_avx512<4>,
                                          tile_avx512<5>, tile_avx512<6>, tile_avx512<7>, tile_avx512<8>};
constexpr TileKernel<double> kAvx2[] = {tile_avx2<1>, tile_avx2<2>, tile_avx2<3>,
                                        tile_avx2<4>, tile_avx2<5>, tile_avx2<6>};
constexpr TileKernel<float> kFloatAvx2[] = {float_tile_avx2<1>, float_tile_avx2<2>, float_tile_avx2<3>,
                                            float_tile_avx2<4>, float_tile_avx2<5>, float_tile_avx2<6>};
#endif
#undef ASSAY_TILE_KERNEL

std::vector<Tile> find_tiles() {
  std::vector<Tile> found;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) found.push_back({"avx512", 24, kAvx512});
  if (__builtin_cpu_supports("avx2")) found.push_back({"avx2", 8, kAvx2});
  // Zen 4 halves vectors of 64 bytes; measured, those of 32 bytes are faster by a third.
  if (found.size() == 2 && __builtin_cpu_is("amdfam19h")) std::swap(found[0], found[1]);
#endif
  found.push_back({"base", kBaseColumns, kBase});
  return found;
}

std::vector<FloatTile> find_float_tiles() {
  std::vector<FloatTile> found;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) found.push_back({"avx2", 16, kFloatAvx2});
#endif
  found.push_back({"base", 2 * kBaseColumns, kFloatBase});
  return found;
}

}  // namespace

std::span<const Tile> tiles() {
  static const std::vector<Tile> found = find_tiles();
  return found;
}

std::span<const FloatTile> float_tiles() {
  static const std::vector<FloatTile> found = find_float_tiles();
  return found;
}

}  // namespace assay::ops
