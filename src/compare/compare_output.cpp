#include "compare/compare_output.h"

#include <algorithm>
#include <array>

#include "base/stopwatch.h"
#include "compare/measure.h"
#include "compare/shape_match.h"
#include "compare/statistics.h"

namespace assay::compare {
namespace {

constexpr uint64_t kShownElements = 100;

bool has(const CompareOptions& options, Function function) {
  return std::ranges::find(options.functions, function) != options.functions.end();
}

void describe(const tensor::Datum& value, std::string& dtype, std::vector<int64_t>& shape) {
  dtype = value.is_tensor() ? tensor::name(value.declared()) : value.is_none() ? "nothing" : "an empty sequence";
  if (value.is_tensor()) shape = value.tensor().shape();
}

bool wants_percentiles(std::string_view name, const CompareOptions& options) {
  return options.wants_percentiles && options.wants_percentiles(name);
}

SimpleBounds bounds_of(std::string_view name, const CompareOptions& options) {
  return {.statistic = options.statistic.of(name),
          .atol = options.atol.of(name),
          .rtol = options.rtol.of(name),
          .quantile = options.quantile.of(name),
          .allowed_share = options.allowed_share.of(name)};
}

MeasureOptions measure_options(std::string_view name, const SimpleBounds& bounds, const CompareOptions& options) {
  MeasureOptions result;
  result.atol = bounds.atol;
  result.rtol = bounds.rtol;
  result.infinities_equal = options.infinities_equal;
  result.divergence = options.divergence;
  result.percentiles = wants_percentiles(name, options) ||
                       (has(options, Function::simple) && bounds.statistic == ErrorStatistic::median);
  if (has(options, Function::simple) && bounds.statistic == ErrorStatistic::quantile) result.quantile = bounds.quantile;
  return result;
}

results::Judgement judge(Function function, const results::OutputComparison& output, const SimpleBounds& bounds,
                         const CompareOptions& options) {
  const std::string& name = output.name_a;
  switch (function) {
    case Function::simple:
      return judge_simple(*output.metrics, bounds);
    case Function::l2:
      return judge_l2(*output.metrics, options.l2.of(name));
    case Function::cosine_similarity:
      return judge_cosine(*output.metrics, options.cosine.of(name));
    case Function::psnr:
      return judge_psnr(*output.metrics, options.psnr_db.of(name));
    case Function::snr:
      return judge_snr(*output.metrics, options.snr_db.of(name));
    case Function::indices:
      break;
  }
  return {};
}

bool is_string(const tensor::Tensor& tensor) { return tensor::kind(tensor.dtype()) == tensor::DTypeKind::string; }

class OutputJudge {
 public:
  OutputJudge(results::OutputComparison& output, const CompareOptions& options, const ComparedAt& at)
      : output_(output), options_(options), at_(at) {}

  void run(const tensor::Tensor& a, tensor::Tensor b) {
    if (is_string(a) != is_string(b)) {
      output_.fault = "kinds";
      return;
    }
    if (a.shape() != b.shape() && !fit_shape(a, b)) return;
    if (!find_allowance(a)) return;
    const SimpleBounds bounds = bounds_of(output_.name_a, options_);
    const MeasureOptions wanted = measure_options(output_.name_a, bounds, options_);
    output_.metrics = measure(a, b, wanted);
    for (const Function function : options_.functions) output_.judgements.push_back(judge_by(function, a, b, bounds));
    output_.passed = std::ranges::all_of(output_.judgements, &results::Judgement::passed);
    if (is_string(a)) return;
    if (wants_percentiles(output_.name_a, options_) && (options_.histograms_of_passed || !output_.passed))
      add_histograms(a, b, wanted, *output_.metrics);
    if (options_.on_measured) options_.on_measured(at_, a, b, output_);
    if (a.count() > kShownElements) return;
    output_.elements_a = a;
    output_.elements_b = std::move(b);
  }

 private:
  results::Judgement judge_by(Function function, const tensor::Tensor& a, const tensor::Tensor& b,
                              const SimpleBounds& bounds) {
    if (function == Function::indices) return judge_indices(a, b, options_.index_tolerance.of(output_.name_a));
    if (is_string(a)) return judge_strings(*output_.metrics, word(function), bounds);
    if (allowance_ != nullptr && function == Function::simple) return judge_by_allowance(a, b);
    return judge(function, output_, bounds, options_);
  }

  results::Judgement judge_by_allowance(const tensor::Tensor& a, const tensor::Tensor& b) {
    const results::Judgement judgement = judge_allowed(a, b, *allowance_, *output_.metrics);
    if (judgement.passed || !allowance_->is_early || !find_allowance(a, true)) return judgement;
    return judge_allowed(a, b, *allowance_, *output_.metrics);
  }

  bool fit_shape(const tensor::Tensor& a, tensor::Tensor& b) {
    std::optional<MatchedTensor> matched;
    if (!options_.check_shapes) matched = match_shape(b, a.shape());
    if (!matched) {
      output_.fault = "shapes";
      return false;
    }
    b = matched->tensor;
    output_.shape_note = matched->what;
    return true;
  }

  // Leaves the tolerance as it is where there is none to compute.
  bool find_allowance(const tensor::Tensor& a, bool is_final = false) {
    if (!options_.allowance || is_string(a)) return true;
    allowance_ = options_.allowance(at_, output_.name_a, output_.name_b, is_final);
    const bool is_known = allowance_ != nullptr && !allowance_->is_unknown;
    if (!is_known && !is_final) return find_allowance(a, true);
    output_.tolerance_reason = allowance_ != nullptr ? allowance_->reason : "the model does not compute it";
    if (is_known && allowance_->of_elements.size() == a.count()) return true;
    if (is_known) output_.tolerance_reason = "the reference gives it another shape";
    output_.fault = "undecided";
    return false;
  }

  results::OutputComparison& output_;
  const CompareOptions& options_;
  ComparedAt at_;
  const Allowance* allowance_ = nullptr;
};

}  // namespace

std::string_view word(Function function) {
  constexpr std::array<std::string_view, 6> kWords = {"simple", "indices", "l2", "cosine_similarity", "psnr", "snr"};
  return kWords[static_cast<size_t>(function)];
}

results::OutputComparison compare_output(const tensor::NamedDatum& a, const tensor::NamedDatum& b,
                                         const CompareOptions& options, const ComparedAt& at) {
  const Stopwatch comparing;
  results::OutputComparison output;
  output.name_a = a.name;
  output.name_b = b.name;
  describe(a.value, output.dtype_a, output.shape_a);
  describe(b.value, output.dtype_b, output.shape_b);
  if (a.value.is_tensor() && b.value.is_tensor()) {
    OutputJudge(output, options, at).run(a.value.tensor(), b.value.tensor());
  } else {
    output.passed = a.value.kind() == b.value.kind();
    if (!output.passed) output.fault = "kinds";
  }
  output.seconds = comparing.seconds();
  return output;
}

}  // namespace assay::compare
