// Loads a file of tensors and asks for the bytes of all of them, a few times; prints the least seconds that took.
//   data_tool FILE [REPEATS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "formats/saved_data.h"

namespace {

using namespace assay;

// The bytes are made, but not read.
uint64_t decode(const tensor::NamedData& arrays) {
  uint64_t count = 0;
  for (const tensor::NamedDatum& array : arrays) count += array.value.tensor().bytes().size();
  return count;
}

uint64_t load(const char* path) {
  uint64_t count = 0;
  const formats::SavedRuns runs = formats::load_results(path);
  for (const formats::SavedRun& run : runs) {
    for (const formats::SavedIteration& iteration : run.iterations) count += decode(iteration.outputs);
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 5;
  double least = 1e9;
  uint64_t count = 0;
  try {
    for (int i = 0; i < repeats; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      count = load(argv[1]);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      least = std::min(least, taken.count());
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.line().c_str());
    return 1;
  }
  std::printf("%.9f %llu\n", least, static_cast<unsigned long long>(count));
  return 0;
}
