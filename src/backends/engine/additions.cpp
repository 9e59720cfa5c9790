#include "backends/engine/additions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace assay::backends {
namespace {

class Additions {
 public:
  Additions(engine::Context& context, std::span<const ops::InputDatum> inputs) : context_(context), inputs_(inputs) {
    context_.time_device(true);
  }

  // Seconds that a step adds: the least of runs that compute it twice, less the least of as many that do not. Both take
  // turns, since a device becomes faster or slower meanwhile, and the least of more runs would be less.
  double seconds_of(size_t step) {
    constexpr int kFirst = 2;  // runs in which the device learns what is launched
    constexpr int kMeasured = 8;
    constexpr double kNone = std::numeric_limits<double>::infinity();
    double once = kNone, twice = kNone;
    for (int i = 0; i < kFirst + kMeasured; ++i) {
      const double plain = seconds_of_run({}), repeated = seconds_of_run(step);
      if (i < kFirst) continue;
      once = std::min(once, plain);
      twice = std::min(twice, repeated);
    }
    return std::max(twice - once, 0.0);
  }

 private:
  // Seconds of computing, without transfers.
  double seconds_of_run(std::optional<size_t> repeated) {
    context_.repeat(repeated);
    context_.run(inputs_, {}, [](ir::ValueId, const tensor::Datum&) {});
    const auto seconds = context_.device_seconds();
    return seconds ? seconds->compute : std::numeric_limits<double>::infinity();
  }

  engine::Context& context_;
  std::span<const ops::InputDatum> inputs_;
};

}  // namespace

std::map<size_t, double> added_seconds(const engine::Program& program, engine::Context& context,
                                       std::span<const ops::InputDatum> inputs) {
  Additions additions(context, inputs);
  std::map<size_t, double> seconds;
  for (size_t i = 0; i < program.steps().size(); ++i) {
    const engine::Step& step = program.steps()[i];
    if (step.device != 0 || !step.kernel) continue;
    const auto added = attempt([&] { return additions.seconds_of(i); });
    const double* const measured = std::get_if<double>(&added);
    if (measured != nullptr && std::isfinite(*measured)) seconds[i] = *measured;
  }
  return seconds;
}

}  // namespace assay::backends
