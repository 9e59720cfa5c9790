#include "sweep/metrics/metric.h"

#include <charconv>

#include "base/error.h"
#include "base/text.h"
#include "sweep/metrics/values.h"

namespace assay::sweep {
namespace {

// A user's function gives the numbers of a sample, the worker asks it; the row of `latency` is its own.
class GivenMean final : public MeanMetric {
 public:
  explicit GivenMean(bool is_better_higher) : is_better_higher_(is_better_higher) {}
  bool is_better_higher() const override { return is_better_higher_; }
  std::vector<double> measure(const SampleValues&) const override { return {}; }

 private:
  bool is_better_higher_;
};

// K of `top5`, `top-5`.
std::optional<uint64_t> top_count(std::string_view word) {
  if (!word.starts_with("top")) return std::nullopt;
  const std::string_view digits = word.substr(word.starts_with("top-") ? 4 : 3);
  uint64_t k = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), k);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size() && k > 0;
  return is_number ? std::optional(k) : std::nullopt;
}

}  // namespace

bool is_script_metric(std::string_view word) { return word.ends_with(".py") || word.find(".py:") != std::string::npos; }

MetricPtr make_metric(std::string_view word) {
  if (const std::optional<uint64_t> k = top_count(word)) return make_top_k(*k);
  if (word == "f1") return make_f1();
  if (word == "miou") return make_miou();
  if (word == "map") return make_map();
  if (word == "perplexity") return make_perplexity();
  if (word == "wer") return make_wer();
  if (word == "cosine") return make_cosine();
  if (word == "latency") return std::make_unique<GivenMean>(false);
  if (is_script_metric(word)) return std::make_unique<GivenMean>(true);
  const std::vector<std::string> known = {"top1",       "top5", "f1",     "miou",   "map",
                                          "perplexity", "wer",  "cosine", "latency"};
  const std::optional<std::string> near = did_you_mean(word, known);
  fail(ErrorCode::usage, "unknown metric `{}`; {}", printable(word),
       near ? fmt::format("did you mean `{}`?", *near)
            : fmt::format("expected topK, FILE.py:FUNCTION or one of {}", join(known, ", ")));
}

}  // namespace assay::sweep
