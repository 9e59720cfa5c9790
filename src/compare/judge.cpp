#include "compare/judge.h"

#include "base/check.h"

namespace assay::compare {
namespace {

struct Statistics {
  double absolute = 0;
  double relative = 0;
};

Statistics looked_at(const results::PairMetrics& metrics, ErrorStatistic statistic) {
  switch (statistic) {
    case ErrorStatistic::elementwise:
    case ErrorStatistic::max:
      return {metrics.absolute.greatest, metrics.relative.greatest};
    case ErrorStatistic::mean:
      return {metrics.absolute.mean, metrics.relative.mean};
    case ErrorStatistic::median:
      ASSAY_CHECK(metrics.absolute.percentiles && metrics.relative.percentiles);
      return {metrics.absolute.percentiles->median, metrics.relative.percentiles->median};
    case ErrorStatistic::quantile:
      break;
  }
  ASSAY_CHECK(metrics.quantile_absolute && metrics.quantile_relative);
  return {*metrics.quantile_absolute, *metrics.quantile_relative};
}

bool within_share(const results::PairMetrics& metrics, double allowed_share) {
  return static_cast<double>(metrics.failed_count) <= allowed_share * static_cast<double>(metrics.count);
}

// Comparisons with NaN are false, so that NaN fails.
results::Judgement judge_value(std::string function, double value, double bound, bool passed) {
  results::Judgement judgement;
  judgement.function = std::move(function);
  judgement.value = value;
  judgement.bound = bound;
  judgement.passed = passed;
  return judgement;
}

}  // namespace

results::Judgement judge_simple(const results::PairMetrics& metrics, const SimpleBounds& bounds) {
  results::Judgement judgement;
  judgement.function = "simple";
  judgement.statistic = word(bounds.statistic);
  judgement.atol = bounds.atol;
  judgement.rtol = bounds.rtol;
  judgement.quantile = bounds.quantile;
  judgement.allowed_share = bounds.allowed_share;
  if (metrics.count == 0) {
    judgement.passed = true;
    return judgement;
  }
  const Statistics statistics = looked_at(metrics, bounds.statistic);
  judgement.required_abs = statistics.absolute;
  judgement.required_rel = statistics.relative;
  judgement.passed = bounds.statistic == ErrorStatistic::elementwise
                         ? within_share(metrics, bounds.allowed_share)
                         : statistics.absolute <= bounds.atol || statistics.relative <= bounds.rtol;
  return judgement;
}

results::Judgement judge_strings(const results::PairMetrics& metrics, std::string_view function,
                                 const SimpleBounds& bounds) {
  results::Judgement judgement;
  judgement.function = function;
  judgement.unequal_strings = metrics.failed_count;
  const bool is_elementwise = function == "simple" && bounds.statistic == ErrorStatistic::elementwise;
  if (is_elementwise) judgement.allowed_share = bounds.allowed_share;
  judgement.passed = within_share(metrics, judgement.allowed_share);
  return judgement;
}

results::Judgement judge_l2(const results::PairMetrics& metrics, double most) {
  return judge_value("l2", metrics.l2, most, metrics.l2 <= most);
}

results::Judgement judge_cosine(const results::PairMetrics& metrics, double least) {
  return judge_value("cosine_similarity", metrics.cosine, least, metrics.cosine >= least);
}

results::Judgement judge_psnr(const results::PairMetrics& metrics, double least_db) {
  return judge_value("psnr", metrics.psnr_db, least_db, metrics.psnr_db >= least_db);
}

results::Judgement judge_snr(const results::PairMetrics& metrics, double least_db) {
  return judge_value("snr", metrics.snr_db, least_db, metrics.snr_db >= least_db);
}

std::string_view word(ErrorStatistic statistic) {
  static constexpr std::string_view kWords[] = {"elemwise", "max", "mean", "median", "quantile"};
  return kWords[static_cast<size_t>(statistic)];
}

}  // namespace assay::compare
