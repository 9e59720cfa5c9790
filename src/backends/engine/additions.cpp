#include "backends/engine/additions.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace assay::backends {
namespace {

class Additions {
 public:
  Additions(engine::Context& context, std::span<const ops::InputDatum> inputs) : context_(context), inputs_(inputs) {
    context_.time_device(true);
  }

  // The least seconds of computing, after runs in which the device learns what is launched.
  double least_seconds(std::optional<size_t> repeated) {
    constexpr int kFirst = 2, kMeasured = 5;
    context_.repeat(repeated);
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kFirst + kMeasured; ++i) {
      context_.run(inputs_, {}, [](ir::ValueId, const tensor::Datum&) {});
      if (i >= kFirst && context_.device_seconds()) least = std::min(least, context_.device_seconds()->compute);
    }
    return least;
  }

 private:
  engine::Context& context_;
  std::span<const ops::InputDatum> inputs_;
};

}  // namespace

std::map<size_t, double> added_seconds(const engine::Program& program, engine::Context& context,
                                       std::span<const ops::InputDatum> inputs) {
  Additions additions(context, inputs);
  std::map<size_t, double> seconds;
  double base = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < program.steps().size(); ++i) {
    const engine::Step& step = program.steps()[i];
    if (step.device != 0 || !step.kernel) continue;
    base = std::min(base, additions.least_seconds({}));  // the device may have become faster
    const auto twice = attempt([&] { return additions.least_seconds(i); });
    if (const double* const measured = std::get_if<double>(&twice)) seconds[i] = *measured;
  }
  for (auto& [step, twice] : seconds) twice = std::max(twice - base, 0.0);
  return seconds;
}

}  // namespace assay::backends
