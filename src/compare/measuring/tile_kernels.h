#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::compare {

// Elements are worked on in tiles, and summed in lanes: element i of a tile belongs to lane i % kLanes. Both are fixed,
// so that neither threads nor instruction sets change a bit.
inline constexpr uint64_t kTile = 512;
inline constexpr uint64_t kLanes = 8;
inline constexpr uint64_t kPackedRoom = kTile + 16;

// Sums of a full tile. `sum` and `squares` are of x - shift, `magnitude` is of |x|; without meaning, but then not
// finite, if an element is not finite.
struct TileSums {
  double shift = 0;
  double sum = 0;
  double squares = 0;
  double magnitude = 0;
  double least = 0;
  double greatest = 0;
};

struct Bounds {
  double atol = 0;
  double rtol = 0;
  double zero_reference = 0;  // stands for a reference of 0
};

// Sums of a full tile beside its reference.
struct TileRelation {
  uint64_t failed = 0;  // elements that are not within one of the bounds
  double dot = 0;
};

// Sums of two full tiles: their own, and those of the absolute and relative differences.
struct PairSums {
  TileSums series[4];
  TileRelation relation;
};

// Numbers between two, both included.
struct Bracket {
  double low = 0;
  double high = 0;
};

// The float32 numbers above one and not above another; nothing is above or not above NaN.
struct CodeRange {
  float below = 0;
  float end = 0;
};

// Disjoint ranges, in any order; elements in the first `kept` of them are kept, those in the others are counted.
struct CodeRanges {
  std::vector<CodeRange> all;
  size_t kept = 0;
  // The kept ranges ascend, and few elements are above the limit `below` of the second one: a hint that changes no
  // result, but the order in which elements are kept.
  bool has_tail = false;
};

// Counts of numbers that are not above the two of a range.
struct CodeCount {
  uint64_t below = 0;
  uint64_t end = 0;
};

// Counts of one tile.
struct BracketCount {
  uint64_t below = 0;
  uint64_t inside = 0;
};

// A bit for each element of a tile.
using TileBits = uint64_t[kTile / 64];

// Edges between ten bins.
inline constexpr uint64_t kInnerEdges = 9;
using InnerEdges = double[kInnerEdges];
using EdgeCounts = uint64_t[kInnerEdges];

// The loops over one full tile, for one instruction set; arrays of doubles are aligned to 64 bytes unless stated
// otherwise; other arrays need no alignment.
struct TileKernels {
  const char* name;
  void (*widen)(const float* from, double* to);
  void (*summarize)(const double* x, bool with_magnitude, TileSums& sums);
  void (*subtract)(const double* a, const double* b, double* difference);  // |a - b|
  // relative = |difference / b|, 0 where the difference is 0
  TileRelation (*relate)(const double* const (&abd)[3], const Bounds& bounds, double* relative);
  // All of the above at once, nothing stored: the same results if every sum is finite. `a`, `b` need no alignment.
  void (*survey32)(const float* a, const float* b, const Bounds& bounds, PairSums& sums);
  // And the differences as float32; one that is not 0 does not become 0.
  void (*survey_codes)(const float* a, const float* b, const Bounds& bounds, PairSums& sums, float* const (&codes)[2]);
  void (*survey64)(const double* a, const double* b, const Bounds& bounds, PairSums& sums);
  // Counts, and tells which elements are in the bracket.
  BracketCount (*sieve)(const double* x, const Bracket& bracket, TileBits& inside);
  void (*narrow)(const double* from, float* to);  // rounded; only 0 becomes 0
  // Adds to `counts`, and stores kept elements in a row, in any order, where kPackedRoom is available; returns their
  // number.
  uint64_t (*sift)(const float* x, const CodeRanges& ranges, CodeCount* counts, float* kept);
  // Counts the elements that are at or above each edge.
  void (*count_from)(const double* x, const InnerEdges& edges, EdgeCounts& counts);
  // The greatest distance of two floating codes, in codes; no NaN among them.
  uint64_t (*ulp64)(const uint64_t* a, const uint64_t* b);
  uint64_t (*ulp32)(const uint32_t* a, const uint32_t* b);
  uint64_t (*ulp16)(const uint16_t* a, const uint16_t* b);
};

// The kernels that this processor can run, fastest first; the last runs everywhere. All give the same bits.
std::span<const TileKernels> tile_kernels();

}  // namespace assay::compare
