// Prints how many GB/s of both arrays measure() gets through, by the least time and by the least processor time of a
// run, for bench/compare.py: measure_bench DTYPE COUNT RUNS.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <random>

#include "base/files.h"
#include "base/parallel.h"
#include "base/temporary_folder.h"
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

// The array in a file, to be mapped anew by each run.
std::filesystem::path write_file(const TemporaryFolder& folder, const char* name, const tensor::Tensor& tensor) {
  OutputFile out(folder.path() / name);
  out.write(tensor.bytes());
  out.commit();
  return folder.path() / name;
}

tensor::Tensor map_file(const std::filesystem::path& path, const tensor::Tensor& like) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  return tensor::Tensor(like.dtype(), like.shape(), tensor::make_mapped(file, 0, file->bytes().size()));
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
  const TemporaryFolder folder;
  const std::filesystem::path file_a = write_file(folder, "a", a);
  const std::filesystem::path file_b = write_file(folder, "b", b);
  report("mapped", [&] { compare::measure(map_file(file_a, a), map_file(file_b, b), options); });
  options.percentiles = false;
  options.histograms = true;
  report("histograms", [&] { compare::measure(a, b, options); });
  report("statistics", [&] { compare::statistics(a, {true, true}); });
  return 0;
}
