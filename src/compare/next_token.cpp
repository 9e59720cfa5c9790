#include "compare/next_token.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "tensor/casts.h"

namespace assay::compare {
namespace {

std::vector<double> load_row(const tensor::Tensor& tensor, uint64_t first, uint64_t count) {
  std::vector<double> row(count);
  tensor::load(tensor.dtype(), tensor.bytes(), first, std::span(row));
  return row;
}

int64_t greatest(std::span<const double> row) {
  if (row.empty() || std::ranges::any_of(row, [](double x) { return std::isnan(x); })) return -1;
  return std::ranges::max_element(row) - row.begin();
}

double log_of_sum(std::span<const double> logits) {
  const double top = *std::ranges::max_element(logits);
  if (!std::isfinite(top)) return top;
  double sum = 0;
  for (const double x : logits) sum += std::exp(x - top);
  return top + std::log(sum);
}

}  // namespace

TokenScores next_scores(const tensor::Tensor& logits, uint64_t rows, std::optional<uint64_t> last) {
  const tensor::Shape& shape = logits.shape();
  const bool are_tokens = tensor::is_integer(logits.dtype());
  const uint64_t words = are_tokens || shape.empty() ? 1 : static_cast<uint64_t>(shape.back());
  const uint64_t places = rows * words == 0 ? 0 : logits.count() / (rows * words);
  const uint64_t place = last.value_or(places == 0 ? 0 : places - 1);
  if (places * rows * words != logits.count() || place >= places) {
    fail(ErrorCode::shape, "logits of shape [{}] are not those of {} rows", fmt::join(shape, ","), rows);
  }
  TokenScores scores;
  for (uint64_t row = 0; row < rows; ++row) {
    std::vector<double> found = load_row(logits, (row * places + place) * words, words);
    scores.tokens.push_back(are_tokens ? static_cast<int64_t>(found.front()) : greatest(found));
    if (!are_tokens) scores.rows.push_back(std::move(found));
  }
  return scores;
}

double next_token_divergence(std::span<const double> reference, std::span<const double> logits) {
  if (reference.size() != logits.size() || reference.empty()) return NAN;
  const double log_p = log_of_sum(reference);
  const double log_q = log_of_sum(logits);
  double sum = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    const double p = std::exp(reference[i] - log_p);
    if (p > 0 || std::isnan(p)) sum += p * ((reference[i] - log_p) - (logits[i] - log_q));
  }
  return std::isnan(sum) ? sum : std::max(sum, 0.0);
}

}  // namespace assay::compare
