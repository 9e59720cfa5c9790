#include "convert/measure/choose_ranges.h"

#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "convert/quantize/insert_qdq.h"
#include "convert/quantize/shadow_layers.h"

namespace assay::convert {
namespace {

constexpr double kBel = 10;
using Errors = std::map<std::string, results::LayerError>;

// The share of a value's energy that rounding adds.
double noise_of(const results::LayerError& error) {
  return std::isnan(error.snr_db) ? HUGE_VAL : std::pow(kBel, -error.snr_db / kBel);
}

class RangeChooser {
 public:
  RangeChooser(Measurement& measurement, const QdqOptions& options, MeasuringHost& host, size_t candidates)
      : measurement_(measurement),
        options_(options),
        host_(host),
        tried_(host.start("ranges tried", 2 * candidates + 1)) {}

  RangeCandidate choose(std::vector<RangeCandidate> candidates) {
    candidates.insert(candidates.begin(), {"layer errors", mixture(candidates)});
    size_t best = 0;
    double least = HUGE_VAL;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const double noise = noise_of_outputs(candidates[i].ranges);
      host_.verbose(fmt::format("Ranges by {}: outputs keep {:.2f} dB", candidates[i].name, -kBel * std::log10(noise)));
      if (noise >= least) continue;
      least = noise;
      best = i;
    }
    return std::move(candidates[best]);
  }

 private:
  calibrate::Ranges mixture(const std::vector<RangeCandidate>& candidates) {
    std::map<std::string, double, std::less<>> least;
    calibrate::Ranges chosen = candidates.front().ranges;
    for (const RangeCandidate& candidate : candidates) {
      for (const auto& [name, noise] : noise_by_value(candidate.ranges)) {
        const auto [known, is_new] = least.emplace(name, noise);
        if (!is_new && noise >= known->second) continue;
        known->second = noise;
        chosen[name] = candidate.ranges.at(name);
      }
    }
    return chosen;
  }

  // The losses of layers that work on a value, each alone.
  std::map<std::string, double> noise_by_value(const calibrate::Ranges& ranges) {
    ir::Model shadowed = measurement_.copy();
    Diagnostics repeated;
    const std::vector<ShadowLayer> layers = add_shadow_layers(shadowed, options_, ranges, repeated);
    Measurement::NamePairs pairs;
    for (const ShadowLayer& layer : layers) pairs[layer.result] = layer.shadow;
    const Errors errors = measured([&] { return measurement_.differences(shadowed, pairs); });
    std::map<std::string, double> noise;
    for (const ShadowLayer& layer : layers) {
      const auto found = errors.find(layer.result);
      if (found == errors.end()) continue;
      for (const std::string& name : layer.ranges) noise[name] += noise_of(found->second);
    }
    return noise;
  }

  double noise_of_outputs(const calibrate::Ranges& ranges) {
    ir::Model converted = measurement_.copy();
    Diagnostics repeated;
    insert_qdq(converted, options_, ranges, repeated);
    double noise = 0;
    for (const auto& [name, error] : measured([&] { return measurement_.output_errors(converted); })) {
      noise += noise_of(error);
    }
    return noise;
  }

  // Nothing where the backend cannot run what is made for the measurement.
  template <typename Run>
  Errors measured(Run run) {
    std::variant<Errors, Error> result = attempt(run);
    tried_->advance();
    if (Errors* errors = std::get_if<Errors>(&result)) return std::move(*errors);
    const Error& error = std::get<Error>(result);
    if (error.code() == ErrorCode::cancelled) throw error;
    const std::string line = "the quantization error could not be measured: " + error.line();
    is_told_ ? host_.verbose(line) : host_.warning(line, error.remedy());
    is_told_ = true;
    return {};
  }

  Measurement& measurement_;
  const QdqOptions& options_;
  MeasuringHost& host_;
  std::unique_ptr<MeasuringWork> tried_;
  bool is_told_ = false;
};

}  // namespace

RangeCandidate choose_ranges(Measurement& measurement, const QdqOptions& options,
                             std::vector<RangeCandidate> candidates, MeasuringHost& host) {
  if (candidates.size() == 1) return std::move(candidates.front());
  return RangeChooser(measurement, options, host, candidates.size()).choose(std::move(candidates));
}

}  // namespace assay::convert
