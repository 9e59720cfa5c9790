// Prints how many GB/s of both arrays measure() gets through, by the least time and by the least processor time of a
// run, for bench/compare.py: measure_bench DTYPE COUNT RUNS.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <random>

#include "base/parallel.h"
#include "compare/measure.h"
#include "compare/statistics.h"
#include "tensor/casts.h"

namespace {

using namespace assay;

tensor::Tensor normal_tensor(tensor::DType dtype, uint64_t count, double noise) {
  std::vector<std::byte> bytes(tensor::packed_bytes(dtype, count).value_or(0));
  parallel_for(count, 1 << 16, [&](uint64_t begin, uint64_t end) {
    std::mt19937_64 engine(begin);
    std::normal_distribution<double> normal;
    std::vector<double> elements(end - begin);
    for (double& x : elements) {
      x = normal(engine);
      x *= 1 + noise * normal(engine);
    }
    tensor::store(dtype, elements, begin, bytes);
  });
  return tensor::Tensor(dtype, {static_cast<int64_t>(count)}, tensor::make_owned(std::move(bytes)));
}

struct Seconds {
  double wall = std::numeric_limits<double>::infinity();
  double cpu = std::numeric_limits<double>::infinity();  // of all threads
};

template <typename Fn>
Seconds least_seconds(int runs, Fn fn) {
  Seconds least;
  for (int run = 0; run < runs; ++run) {
    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    const std::clock_t cpu_start = std::clock();
    fn();
    least.cpu = std::min(least.cpu, static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
    least.wall = std::min(least.wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::optional<tensor::DType> dtype = tensor::find_dtype(argv[1]);
  if (!dtype) return 2;
  const uint64_t count = std::strtoull(argv[2], nullptr, 10);
  const int runs = std::atoi(argv[3]);
  const tensor::Tensor a = normal_tensor(*dtype, count, 1e-6);
  const tensor::Tensor b = normal_tensor(*dtype, count, 0);
  const double bytes = 2 * static_cast<double>(a.size_bytes());
  const auto report = [&](const char* what, auto fn) {
    const Seconds least = least_seconds(runs, fn);
    std::printf("%s %.6f s %.2f GB/s, %.2f GB/s of one core's time\n", what, least.wall, bytes / least.wall / 1e9,
                bytes / least.cpu / 1e9);
  };
  compare::MeasureOptions options;
  report("plain", [&] { compare::measure(a, b, options); });
  options.percentiles = true;
  report("percentiles", [&] { compare::measure(a, b, options); });
  options.percentiles = false;
  options.histograms = true;
  report("histograms", [&] { compare::measure(a, b, options); });
  report("statistics", [&] { compare::statistics(a, {true, true}); });
  return 0;
}
