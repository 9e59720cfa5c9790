#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::results {

// A value that takes memory; numbers, or formulas in the names of dims.
struct LiveValue {
  std::string name;
  std::string bytes;
};

// The point of a run at which most memory is taken by what nodes have computed.
struct MemoryPeak {
  std::string bytes;
  std::string node;
  std::vector<LiveValue> largest;  // of the values that are alive there
};

// Caches of a decoder, as its inputs.
struct CacheNeeds {
  uint64_t count = 0;
  std::string bytes;
  std::string bytes_per_token;  // of those that grow
};

// Memory of the built-in engine for given sizes.
struct EngineMemory {
  uint64_t arena_bytes = 0;   // for values, planned before a run
  uint64_t packed_bytes = 0;  // of weights in the forms of its kernels
};

// Memory that a run takes: values live from the node that computes them to the last one that reads them.
struct MemoryNeeds {
  uint64_t weight_bytes = 0;
  std::string input_bytes;
  std::string output_bytes;
  std::vector<MemoryPeak> peaks;  // the greatest one counts; which that is depends on the sizes
  uint64_t unknown_values = 0;    // whose sizes only data decides, and that are not counted
  std::optional<CacheNeeds> caches;
  std::optional<MemoryPeak> at;         // for given sizes
  std::vector<std::string> sizes;       // `batch=1`, of these
  std::optional<uint64_t> total_bytes;  // for these: weights, inputs and the peak
  std::optional<EngineMemory> engine;   // measured beside it
};

}  // namespace assay::results
