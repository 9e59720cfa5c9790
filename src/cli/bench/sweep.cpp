#include "cli/bench/sweep.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "cli/log_observer.h"
#include "cli/options/groups/json.h"
#include "cli/options/groups/trtexec.h"
#include "cli/options/values.h"
#include "report/bench/bench_sweep.h"
#include "report/json_reports.h"

namespace assay::cli {
namespace {

struct Wish {
  std::string label;
  tasks::BenchRequest request;
};

std::vector<Wish> wishes(const tasks::BenchRequest& request, const Arguments& arguments) {
  std::vector<Wish> all;
  for (const std::string& list : arguments.values("--batches")) {
    for (const std::string_view word : split(list, ',')) {
      Wish& wish = all.emplace_back(Wish{fmt::format("batch {}", word), request});
      wish.request.batch = static_cast<int64_t>(parse_count("--batches", word, 1));
    }
  }
  for (const std::string& set : arguments.values("--sweep")) {
    Wish& wish = all.emplace_back(Wish{set, request});
    wish.request.inputs.generated.shapes = parse_trtexec_shapes("--sweep", set);
  }
  return all;
}

// Refuses files that are written of one measurement only.
void refuse_files(const Arguments& arguments) {
  for (const std::string_view option : {"--export-times", "--export-output", "--export-profile", "--export-layer-info",
                                        "--report", "--save-engine", "--fail-if-slower-than", "--load-inputs"}) {
    if (arguments.has(option)) fail(ErrorCode::usage, "{} is about one measurement, and several are asked for", option);
  }
}

uint64_t element_count(const results::Bench& bench) {
  uint64_t elements = 0;
  for (const results::RunValue& input : bench.inputs) {
    uint64_t count = 1;
    for (const int64_t dim : input.shape) count *= static_cast<uint64_t>(dim);
    elements += count;
  }
  return elements;
}

std::optional<double> growth(const results::BenchSweep::Point& before, const results::BenchSweep::Point& now) {
  const results::BenchSide& old_side = before.bench.sides[0];
  const results::BenchSide& side = now.bench.sides[0];
  if (!old_side.is_measured() || !side.is_measured() || before.elements == now.elements) return std::nullopt;
  const double times = side.compute.median / old_side.compute.median;
  return std::log(times) / std::log(static_cast<double>(now.elements) / static_cast<double>(before.elements));
}

}  // namespace

std::optional<int> run_sweep(const tasks::BenchRequest& request, const Arguments& arguments, Environment& environment) {
  const std::vector<Wish> all = wishes(request, arguments);
  if (all.empty()) return std::nullopt;
  refuse_files(arguments);
  LogObserver observer(arguments, environment);
  results::BenchSweep sweep;
  bool is_measured = true;
  for (const Wish& wish : all) {
    environment.log.info("Measuring " + printable(wish.label));
    results::BenchSweep::Point point{.label = wish.label, .bench = tasks::bench(wish.request, observer).bench};
    point.elements = element_count(point.bench);
    if (!sweep.points.empty()) point.growth = growth(sweep.points.back(), point);
    is_measured = is_measured && point.bench.sides[0].is_measured();
    sweep.points.push_back(std::move(point));
  }
  if (!json_on_stdout(arguments)) {
    for (const std::string& line : report::sweep_lines(sweep)) environment.log.info(line);
  }
  if (wants_json(arguments)) write_json(arguments, environment, report::report_json(sweep));
  return is_measured ? kExitEqual : kExitUndecided;
}

}  // namespace assay::cli
