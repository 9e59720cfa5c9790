#include "base/error.h"
#include "compare/compare_output.h"
#include "compare/shape_match.h"
#include "compare/statistics.h"
#include "compare/top_k.h"
#include "compare/validate.h"
#include "convert.h"

namespace assay::python {
namespace {

compare::ErrorStatistic statistic_of(const std::string& name) {
  using enum compare::ErrorStatistic;
  for (const auto each : {elementwise, max, mean, median, quantile}) {
    if (compare::word(each) == name) return each;
  }
  fail(ErrorCode::usage, "there is no error statistic `{}`; known are elemwise, max, mean, median, quantile", name);
}

compare::Function function_of(const std::string& name) {
  using enum compare::Function;
  for (const auto each : {simple, indices, l2, cosine_similarity, psnr, snr}) {
    if (compare::word(each) == name) return each;
  }
  fail(ErrorCode::usage, "there is no comparison `{}`", name);
}

compare::CompareOptions options_of(const std::string& function, const nb::dict& given) {
  compare::CompareOptions options;
  options.functions = {function_of(function)};
  const auto number = [&](const char* name, auto& setting) {
    if (given.contains(name)) setting.set("", nb::cast<double>(given[name]));
  };
  number("atol", options.atol);
  number("rtol", options.rtol);
  number("quantile", options.quantile);
  number("l2", options.l2);
  number("cosine", options.cosine);
  number("psnr", options.psnr_db);
  number("snr", options.snr_db);
  if (given.contains("index_tolerance")) options.index_tolerance.set("", nb::cast<int64_t>(given["index_tolerance"]));
  if (given.contains("statistic")) options.statistic.set("", statistic_of(nb::cast<std::string>(given["statistic"])));
  if (given.contains("check_shapes")) options.check_shapes = nb::cast<bool>(given["check_shapes"]);
  if (given.contains("infinities_equal")) options.infinities_equal = nb::cast<bool>(given["infinities_equal"]);
  options.wants_percentiles = [](std::string_view) { return true; };
  return options;
}

nb::dict statistics(const results::TensorStats& stats) {
  nb::dict found;
  found["min"] = stats.least;
  found["max"] = stats.greatest;
  found["mean"] = stats.mean;
  found["median"] = stats.percentiles ? nb::cast(stats.percentiles->median) : nb::none();
  return found;
}

nb::dict to_dict(const results::OutputComparison& output) {
  nb::dict found;
  found["passed"] = output.passed;
  found["fault"] = output.fault;
  found["shape_note"] = output.shape_note;
  found["value"] = nb::none();
  found["notes"] = std::vector<std::string>();
  if (!output.judgements.empty()) {
    const results::Judgement& judgement = output.judgements.front();
    found["value"] = judgement.value;
    found["required_abs"] = judgement.required_abs;
    found["required_rel"] = judgement.required_rel;
    found["notes"] = judgement.notes;
  }
  if (!output.metrics) return found;
  const results::PairMetrics& metrics = *output.metrics;
  found["a"] = statistics(metrics.a);
  found["b"] = statistics(metrics.b);
  found["absolute"] = statistics(metrics.absolute);
  found["relative"] = statistics(metrics.relative);
  found["quantile_absolute"] = metrics.quantile_absolute;
  found["quantile_relative"] = metrics.quantile_relative;
  found["failed_count"] = metrics.failed_count;
  found["l2"] = metrics.l2;
  found["cosine"] = metrics.cosine;
  found["psnr"] = metrics.psnr_db;
  found["snr"] = metrics.snr_db;
  return found;
}

nb::dict compare_arrays(const std::string& name, nb::handle a, nb::handle b, const std::string& function,
                        const nb::dict& given) {
  const compare::CompareOptions options = options_of(function, given);
  const tensor::NamedDatum first{name, to_tensor(a)};
  const tensor::NamedDatum second{name, to_tensor(b)};
  return to_dict(unlocked([&] { return compare::compare_output(first, second, options, {}); }));
}

nb::tuple validate(nb::handle array) {
  const tensor::Tensor tensor = to_tensor(array);
  const compare::Validity found = unlocked([&] { return compare::validate(tensor); });
  return nb::make_tuple(found.nan_count, found.inf_count);
}

Array top_k(nb::handle array, int64_t k, int64_t axis) {
  const tensor::Tensor tensor = to_tensor(array);
  return {unlocked([&] { return compare::top_k(tensor, k, axis); }), false};
}

}  // namespace

void bind_compare(nb::module_& module) {
  module.def("compare", compare_arrays);
  module.def("validate", validate);
  module.def("top_k", top_k);
}

}  // namespace assay::python
