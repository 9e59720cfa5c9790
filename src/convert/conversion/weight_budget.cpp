#include "convert/conversion/weight_budget.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"

namespace assay::convert {
namespace {

constexpr double kBel = 10;
constexpr std::string_view kLeftOut = "it is left out for the budget";

// A layer that can be compressed.
struct Candidate {
  ir::NodeId node;
  std::string name;
  uint64_t bytes_before = 0;
  uint64_t bytes_after = 0;
  double snr_db = 0;  // of the worst output, with this layer alone compressed
  double noise() const { return std::pow(kBel, -snr_db / kBel); }
  double noise_per_byte() const {
    return noise() / std::max(1.0, static_cast<double>(bytes_before) - static_cast<double>(bytes_after));
  }
};

class WeightChooser {
 public:
  WeightChooser(const Conversion& conversion, const MomentsOf& moments, WeightOptions& options,
                results::ConversionReport& report)
      : conversion_(conversion),
        moments_(moments),
        options_(options),
        report_(report),
        measurement_(conversion.host.measure(conversion.model)) {}

  void run(const std::optional<WeightBudget>& budget) {
    find_candidates();
    for (Candidate& candidate : candidates_) probe(candidate);
    std::ranges::stable_sort(candidates_, std::greater(), &Candidate::noise_per_byte);
    add_points();
    if (budget) keep_for(*budget);
  }

 private:
  WeightReport compress(ir::Model& model, const WeightOptions& options, bool is_probe) {
    ir::Rewriter rewriter(model);
    Diagnostics repeated;
    return compress_weights(model, rewriter, options, repeated, is_probe ? MomentsOf() : moments_);
  }

  void find_candidates() {
    ir::Model model = conversion_.model.copy();
    for (const WeightLayer& layer : compress(model, options_, true).layers) {
      if (layer.converted) candidates_.push_back({.node = layer.node, .name = layer.name});
    }
  }

  // Each number is rounded by itself here: what is looked for is the order of layers.
  void probe(Candidate& candidate) {
    WeightOptions options = options_;
    for (const Candidate& other : candidates_) {
      if (other.node != candidate.node) options.choice.kept.emplace(other.node, kLeftOut);
    }
    ir::Model model = conversion_.model.copy();
    const WeightReport made = compress(model, options, true);
    candidate.bytes_before = made.bytes_before;
    candidate.bytes_after = made.bytes_after;
    candidate.snr_db = worst_snr(model);
    report_.sensitivity.push_back({candidate.name, candidate.snr_db, made.bytes_before, made.bytes_after});
  }

  double worst_snr(const ir::Model& model) {
    double worst = HUGE_VAL;
    for (const auto& [name, error] : measurement_.output_errors(model)) worst = std::min(worst, error.snr_db);
    return worst;
  }

  // Noises of layers add up, as far as they have nothing in common.
  void add_points() {
    for (size_t left_out = 0; left_out <= candidates_.size(); ++left_out) {
      results::WeightPoint point{.left_out = left_out, .bytes = 0, .expected_snr_db = 0, .measured = {}};
      double noise = 0;
      for (size_t i = 0; i < candidates_.size(); ++i) {
        point.bytes += i < left_out ? candidates_[i].bytes_before : candidates_[i].bytes_after;
        noise += i < left_out ? 0 : candidates_[i].noise();
      }
      point.expected_snr_db = noise > 0 ? -kBel * std::log10(noise) : HUGE_VAL;
      report_.points.push_back(point);
    }
  }

  WeightOptions without(size_t left_out) const {
    WeightOptions options = options_;
    for (size_t i = 0; i < left_out; ++i) options.choice.kept.emplace(candidates_[i].node, kLeftOut);
    return options;
  }

  // True if the budget holds without the noisiest layers, so many.
  bool holds(const WeightBudget& budget, size_t left_out) {
    ir::Model model = conversion_.model.copy();
    compress(model, without(left_out), false);
    const bool is_snr = budget.metric == WeightBudget::Metric::snr;
    const double measured = is_snr ? worst_snr(model) : 1 - measurement_.top1_agreement(model);
    report_.points[left_out].measured = measured;
    conversion_.host.info(fmt::format(
        "Without {} of {} layer(s): {}", left_out, candidates_.size(),
        is_snr ? fmt::format("{:.2f} dB", measured) : fmt::format("{:.3g}% of rows choose another", 100 * measured)));
    return is_snr ? measured >= budget.bound : measured <= budget.bound;
  }

  // Halving: more layers that are left out are taken to lose less.
  void keep_for(const WeightBudget& budget) {
    size_t low = 0;
    size_t high = candidates_.size();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (holds(budget, middle))
        high = middle;
      else
        low = middle + 1;
    }
    options_ = without(high);
    if (budget.metric == WeightBudget::Metric::snr) report_.output_snr_db = report_.points[high].measured;
    if (high == candidates_.size() && !candidates_.empty()) {
      conversion_.findings.warn("budget", "", "no layer can be compressed within the budget");
    }
  }

  const Conversion& conversion_;
  const MomentsOf& moments_;
  WeightOptions& options_;
  results::ConversionReport& report_;
  Measurement& measurement_;
  std::vector<Candidate> candidates_;
};

}  // namespace

void choose_weights(const Conversion& conversion, const std::optional<WeightBudget>& budget, const MomentsOf& moments,
                    WeightOptions& options, results::ConversionReport& report) {
  WeightChooser(conversion, moments, options, report).run(budget);
}

}  // namespace assay::convert
