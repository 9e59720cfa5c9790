// Prints the least time that a copy of a model takes, and how many nodes it has, for bench/large_models.py:
// copy_bench MODEL RUNS.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "onnx/load.h"

int main(int argc, char** argv) {
  using namespace assay;
  if (argc != 3) return 2;
  Diagnostics findings;
  const ir::Model model = onnx::load(argv[1], {}, findings);
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < std::atoi(argv[2]); ++run) {
    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    const ir::Model copy = model.copy();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("%.6f s %u nodes\n", least, model[model.main_graph()].node_count);
  return 0;
}
