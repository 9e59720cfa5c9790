#include "convert/conversion/layer_budget.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"

namespace assay::convert {
namespace {

constexpr double kBel = 10;
constexpr std::string_view kLeftOut = "it is left out for the budget";

struct Candidate {
  TrialLayer layer;
  LayeredConversion::Bytes bytes;
  double snr_db = 0;  // of the worst output, with this layer alone converted
  double noise() const { return std::pow(kBel, -snr_db / kBel); }
  double saved_bytes() const {
    return std::max(1.0, static_cast<double>(bytes.before) - static_cast<double>(bytes.after));
  }
};

class LayerChooser {
 public:
  LayerChooser(const Conversion& conversion, LayeredConversion& layered, results::ConversionReport& report)
      : conversion_(conversion),
        layered_(layered),
        report_(report),
        measurement_(conversion.host.measure(conversion.model)) {}

  KeptLayers run(const std::optional<ErrorBudget>& budget) {
    for (TrialLayer& layer : layered_.layers()) candidates_.push_back({.layer = std::move(layer), .bytes = {}});
    for (Candidate& candidate : candidates_) probe(candidate);
    order();
    add_points();
    report_.points.back().seconds = measurement_.seconds(conversion_.model);
    return budget ? keep_for(*budget) : KeptLayers();
  }

 private:
  void probe(Candidate& candidate) {
    KeptLayers kept;
    for (const Candidate& other : candidates_) {
      if (other.layer.node != candidate.layer.node) kept.emplace(other.layer.node, kLeftOut);
    }
    ir::Model model = conversion_.model.copy();
    candidate.bytes = layered_.convert(model, kept, true);
    candidate.snr_db = worst_snr(model);
    report_.sensitivity.push_back(
        {candidate.layer.name, candidate.snr_db, candidate.bytes.before, candidate.bytes.after, candidate.layer.macs});
  }

  // Outputs that are no numbers have lost all.
  double worst_snr(const ir::Model& model) {
    const std::map<std::string, results::LayerError> errors = measurement_.output_errors(model);
    if (errors.empty()) throw_without_outputs();
    double worst = HUGE_VAL;
    for (const auto& [name, error] : errors) {
      worst = std::min(worst, std::isnan(error.snr_db) ? -HUGE_VAL : error.snr_db);
    }
    return worst;
  }

  [[noreturn]] static void throw_without_outputs() {
    fail(ErrorCode::unsupported, "the model has no output of floats: there is nothing to see what layers cost by");
  }

  void order() {
    const bool by_macs = std::ranges::all_of(candidates_, [](const Candidate& one) { return one.layer.macs > 0; });
    std::ranges::stable_sort(candidates_, std::greater(), [by_macs](const Candidate& one) {
      return one.noise() / (by_macs ? static_cast<double>(one.layer.macs) : one.saved_bytes());
    });
  }

  // Noises of layers add up, as far as they have nothing in common.
  void add_points() {
    for (size_t left_out = 0; left_out <= candidates_.size(); ++left_out) {
      results::ConversionPoint point{.left_out = left_out};
      double noise = 0;
      for (size_t i = 0; i < candidates_.size(); ++i) {
        const Candidate& one = candidates_[i];
        point.bytes += i < left_out ? one.bytes.before : one.bytes.after;
        point.macs += i < left_out ? 0 : one.layer.macs;
        noise += i < left_out ? 0 : one.noise();
      }
      point.expected_snr_db = noise > 0 ? -kBel * std::log10(noise) : HUGE_VAL;
      report_.points.push_back(point);
    }
  }

  KeptLayers without(size_t left_out) const {
    KeptLayers kept;
    for (size_t i = 0; i < left_out; ++i) kept.emplace(candidates_[i].layer.node, kLeftOut);
    return kept;
  }

  // True if the budget holds without the noisiest layers, so many.
  bool holds(const ErrorBudget& budget, size_t left_out) {
    ir::Model model = conversion_.model.copy();
    layered_.convert(model, without(left_out), false);
    const bool is_snr = budget.metric == ErrorBudget::Metric::snr;
    const double measured = is_snr ? worst_snr(model) : 1 - agreement(model);
    report_.points[left_out].measured = measured;
    report_.points[left_out].seconds = measurement_.seconds(model);
    conversion_.host.info(fmt::format(
        "Without {} of {} layer(s): {}", left_out, candidates_.size(),
        is_snr ? fmt::format("{:.2f} dB", measured) : fmt::format("{:.3g}% of rows choose another", 100 * measured)));
    return is_snr ? measured >= budget.bound : measured <= budget.bound;
  }

  double agreement(const ir::Model& model) {
    const std::optional<double> agreement = measurement_.top1_agreement(model);
    if (!agreement) throw_without_outputs();
    return *agreement;
  }

  // Halving: more layers that are left out are taken to lose less.
  KeptLayers keep_for(const ErrorBudget& budget) {
    size_t low = 0;
    size_t high = candidates_.size();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (holds(budget, middle))
        high = middle;
      else
        low = middle + 1;
    }
    if (budget.metric == ErrorBudget::Metric::snr) report_.output_snr_db = report_.points[high].measured;
    if (high == candidates_.size() && !candidates_.empty()) {
      conversion_.findings.warn("budget", "", "no layer can be converted within the budget");
    }
    return without(high);
  }

  const Conversion& conversion_;
  LayeredConversion& layered_;
  results::ConversionReport& report_;
  Measurement& measurement_;
  std::vector<Candidate> candidates_;
};

}  // namespace

KeptLayers choose_layers(const Conversion& conversion, LayeredConversion& layered,
                         const std::optional<ErrorBudget>& budget, results::ConversionReport& report) {
  return LayerChooser(conversion, layered, report).run(budget);
}

}  // namespace assay::convert
