#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "compare/allowance.h"
#include "compare/judge.h"

namespace assay::compare {

// A setting that may differ by output: by name, by wildcard, or otherwise the default.
template <typename T>
class PerOutput {
 public:
  explicit PerOutput(T fallback) : fallback_(std::move(fallback)) {}

  // An empty name sets the default; of two settings for the same name the later one counts.
  void set(std::string name, T value) {
    if (name.empty())
      fallback_ = std::move(value);
    else
      entries_.emplace_back(std::move(name), std::move(value));
  }

  const T& of(std::string_view name) const {
    const T* found = nullptr;
    for (const auto& [pattern, value] : entries_) {
      if (pattern == name) found = &value;
    }
    for (const auto& [pattern, value] : entries_) {
      if (found == nullptr && matches_glob(pattern, name)) found = &value;
    }
    return found != nullptr ? *found : fallback_;
  }

  const std::vector<std::pair<std::string, T>>& entries() const { return entries_; }

 private:
  T fallback_;
  std::vector<std::pair<std::string, T>> entries_;
};

enum class Function : uint8_t { simple, indices, l2, cosine_similarity, psnr, snr };

enum class MatchBy : uint8_t { name, order, value };

// The place of a comparison in a run: of runner `pair` with the next one.
struct ComparedAt {
  size_t pair = 0;
  uint64_t iteration = 0;
};

struct CompareOptions {
  std::vector<Function> functions = {Function::simple};
  PerOutput<double> atol{1e-5};
  PerOutput<double> rtol{1e-5};
  PerOutput<ErrorStatistic> statistic{ErrorStatistic::elementwise};
  PerOutput<double> quantile{0.99};
  PerOutput<double> allowed_share{0};
  PerOutput<int64_t> index_tolerance{0};
  PerOutput<double> l2{1e-5};
  PerOutput<double> cosine{0.997};
  PerOutput<double> psnr_db{30};
  PerOutput<double> snr_db{20};
  bool infinities_equal = false;
  bool check_shapes = true;
  bool fail_fast = false;
  bool strict_outputs = false;  // values that only `mark all` exposes must also be paired
  bool divergence = false;
  std::vector<std::pair<std::string, std::string>> matches;  // name in the first run, name in the second
  MatchBy match_by = MatchBy::name;
  // Returns true if a value is an output that must have a partner; null: all are.
  std::function<bool(std::string_view)> is_essential;
  // Returns true if medians, percentiles and, if it fails, histograms of a value are wanted; null: for none.
  std::function<bool(std::string_view)> wants_percentiles;
  bool histograms_of_passed = false;  // if percentiles are wanted
  // For a computed tolerance: how far an output may be from a correct one, by its name in either run; null where that
  // is not known. It may be early unless the final one is asked for. Empty: not requested.
  std::function<const Allowance*(const ComparedAt&, std::string_view name_a, std::string_view name_b, bool is_final)>
      allowance;
  // Sees each pair of arrays of numbers, of one shape, once measured, for example to draw them; may be null.
  std::function<void(const ComparedAt&, const tensor::Tensor& a, const tensor::Tensor& b, results::OutputComparison&)>
      on_measured;
};

std::string_view word(Function function);  // spelling in the option

}  // namespace assay::compare
