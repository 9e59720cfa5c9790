// Prints the least time and the least processor time that a copy of a model takes, and how many nodes it has, for
// bench/large_models.py: copy_bench MODEL RUNS.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>

#include "onnx/load.h"

int main(int argc, char** argv) {
  using namespace assay;
  if (argc != 3) return 2;
  Diagnostics findings;
  const ir::Model model = onnx::load(argv[1], {}, findings);
  double wall = std::numeric_limits<double>::infinity();
  double cpu = wall;
  for (int run = 0; run < std::atoi(argv[2]); ++run) {
    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    const std::clock_t cpu_start = std::clock();
    const ir::Model copy = model.copy();
    cpu = std::min(cpu, static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
    wall = std::min(wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("%.6f s, %.6f s of one core, %u nodes\n", wall, cpu, model[model.main_graph()].node_count);
  return 0;
}
