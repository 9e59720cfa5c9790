// Serves metrics_test.py and bench/compare.py: compares two files of raw elements.
//   measure_tool DTYPE_A FILE_A DTYPE_B FILE_B DIMS [ATOL RTOL QUANTILE]     (dims: 2,3 or - for a scalar)
// prints one `name value` a line, all numbers as C99 hex, indices as flat places. Without arguments it reads such lines
// from standard input instead, and ends each answer with an empty line.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/text.h"
#include "compare/judge.h"
#include "compare/measure.h"

namespace {

using namespace assay;

tensor::Shape parse_dims(std::string_view text) {
  tensor::Shape shape;
  if (text == "-") return shape;
  for (const std::string_view part : split(text, ',')) shape.push_back(std::atoll(std::string(part).c_str()));
  return shape;
}

tensor::Tensor load(const std::string& dtype, const std::string& path, const tensor::Shape& shape) {
  const std::optional<tensor::DType> found = tensor::find_dtype(dtype);
  if (!found) fail(ErrorCode::usage, "unknown dtype `{}`", dtype);
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  return tensor::Tensor(*found, shape, tensor::make_mapped(file, 0, file->bytes().size()));
}

void print(const std::string& name, double value) { std::printf("%s %a\n", name.c_str(), value); }

void print(const std::string& name, const std::vector<int64_t>& at, const tensor::Shape& shape) {
  int64_t place = 0;
  for (size_t i = 0; i < at.size(); ++i) place = place * shape[i] + at[i];
  print(name, static_cast<double>(place));
}

void print_stats(const std::string& name, const results::TensorStats& stats, const tensor::Shape& shape) {
  print(name + ".mean", stats.mean);
  print(name + ".standard_deviation", stats.standard_deviation);
  print(name + ".variance", stats.variance);
  print(name + ".least", stats.least);
  print(name + ".greatest", stats.greatest);
  print(name + ".mean_magnitude", stats.mean_magnitude);
  print(name + ".nan_count", static_cast<double>(stats.nan_count));
  print(name + ".inf_count", static_cast<double>(stats.inf_count));
  print(name + ".median", stats.percentiles->median);
  print(name + ".p90", stats.percentiles->p90);
  print(name + ".p95", stats.percentiles->p95);
  print(name + ".p99", stats.percentiles->p99);
  if (stats.count == 0) return;
  print(name + ".least_at", stats.least_at, shape);
  print(name + ".greatest_at", stats.greatest_at, shape);
  for (size_t i = 0; stats.histogram && i < stats.histogram->counts.size(); ++i) {
    print(fmt::format("{}.bin{}", name, i), static_cast<double>(stats.histogram->counts[i]));
  }
}

void print_verdicts(const results::PairMetrics& metrics, compare::SimpleBounds bounds) {
  for (const compare::ErrorStatistic statistic :
       {compare::ErrorStatistic::elementwise, compare::ErrorStatistic::max, compare::ErrorStatistic::mean,
        compare::ErrorStatistic::median, compare::ErrorStatistic::quantile}) {
    bounds.statistic = statistic;
    print("passed." + std::string(compare::word(statistic)), compare::judge_simple(metrics, bounds).passed);
  }
}

void run(const std::vector<std::string>& words) {
  const tensor::Shape shape = parse_dims(words.at(4));
  const auto number = [&](size_t i, double other) {
    return i < words.size() ? std::strtod(words[i].c_str(), nullptr) : other;
  };
  compare::SimpleBounds bounds;
  bounds.atol = number(5, bounds.atol);
  bounds.rtol = number(6, bounds.rtol);
  bounds.quantile = number(7, bounds.quantile);
  compare::MeasureOptions options;
  options.atol = bounds.atol;
  options.rtol = bounds.rtol;
  options.quantile = bounds.quantile;
  options.percentiles = options.histograms = true;
  const results::PairMetrics metrics =
      compare::measure(load(words[0], words[1], shape), load(words[2], words[3], shape), options);
  print_stats("a", metrics.a, shape);
  print_stats("b", metrics.b, shape);
  print_stats("absolute", metrics.absolute, shape);
  print_stats("relative", metrics.relative, shape);
  print("quantile_absolute", *metrics.quantile_absolute);
  print("quantile_relative", *metrics.quantile_relative);
  print("l2", metrics.l2);
  print("cosine", metrics.cosine);
  print("psnr_db", metrics.psnr_db);
  print("snr_db", metrics.snr_db);
  print("failed_count", static_cast<double>(metrics.failed_count));
  print_verdicts(metrics, bounds);
}

// In one thread: on a busy machine most of the time of small arrays is waiting for the others.
void serve() {
  set_thread_count(1);
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    run({std::istream_iterator<std::string>(words), {}});
    std::puts("");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argc < 6) return 2;
  try {
    if (argc == 1) {
      serve();
    } else {
      run({argv + 1, argv + argc});
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.line().c_str());
    return 2;
  }
  return 0;
}
