#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "sweep/metrics/values.h"
#include "tensor/elements.h"

namespace assay::sweep {
namespace {

using Words = std::vector<std::string>;

Words words_of_text(std::string_view text) {
  Words words;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

// The best class of each step, once where it is repeated, without the blank, which is class 0.
std::vector<Words> decoded(const tensor::Tensor& scores) {
  const std::vector<double> all = tensor::load_elements<double>(scores);
  const tensor::Shape& shape = scores.shape();
  const auto classes = static_cast<size_t>(shape.back());
  const auto steps = static_cast<size_t>(shape[shape.size() - 2]);
  if (classes == 0 || steps == 0) return std::vector<Words>(1);
  std::vector<Words> lines(all.size() / (classes * steps));
  for (size_t line = 0; line < lines.size(); ++line) {
    size_t last = 0;
    for (size_t step = 0; step < steps; ++step) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>((line * steps + step) * classes);
      const auto best =
          static_cast<size_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(classes)) - begin);
      if (best != 0 && best != last) lines[line].push_back(std::to_string(best));
      last = best;
    }
  }
  return lines;
}

// Tokens of the last axis; negative ones are padding.
std::vector<Words> token_lines(const tensor::Tensor& tokens) {
  const std::vector<double> all = tensor::load_elements<double>(tokens);
  const size_t length = tokens.shape().empty() ? 1 : static_cast<size_t>(tokens.shape().back());
  std::vector<Words> lines(length == 0 ? 1 : all.size() / length);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] >= 0) lines[i / length].push_back(std::to_string(static_cast<int64_t>(all[i])));
  }
  return lines;
}

std::vector<Words> lines_of(const tensor::Tensor& tensor) {
  if (tensor.dtype() == tensor::DType::string) {
    std::vector<Words> lines;
    for (const std::string& text : tensor.strings()) lines.push_back(words_of_text(text));
    return lines;
  }
  const bool is_scores = tensor::is_floating(tensor.dtype()) && tensor.shape().size() >= 2;
  return is_scores ? decoded(tensor) : token_lines(tensor);
}

// Insertions, deletions and replacements that turn one into the other.
size_t word_distance(const Words& a, const Words& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// Words that are wrong, missing or too many, by the words of the label. Outputs are texts, tokens, or scores of tokens
// step by step (CTC).
class WordErrors final : public MeanMetric {
 public:
  bool is_better_higher() const override { return false; }
  bool is_mean() const override { return false; }

  std::vector<double> measure(const SampleValues& sample) const override {
    const std::vector<Words> said = lines_of(judged_output(sample));
    const tensor::Tensor& label = judged_label(sample);
    const std::vector<Words> meant = label.dtype() == tensor::DType::string ? lines_of(label) : token_lines(label);
    if (said.size() != meant.size())
      fail(ErrorCode::usage, "the output has {} line(s) of words, the label {}", said.size(), meant.size());
    size_t errors = 0;
    size_t words = 0;
    for (size_t i = 0; i < said.size(); ++i) {
      errors += word_distance(said[i], meant[i]);
      words += meant[i].size();
    }
    return {static_cast<double>(errors), static_cast<double>(words)};
  }
};

}  // namespace

MetricPtr make_wer() { return std::make_unique<WordErrors>(); }

}  // namespace assay::sweep
