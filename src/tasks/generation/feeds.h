#pragma once

#include <span>

#include "analysis/feedback.h"
#include "tensor/named.h"

namespace assay::tasks {

// Inputs of one side, step by step. Caches are handed on without a copy.
class StepFeeds {
 public:
  // `prompt`: all inputs of the first step, which has so many tokens (make_prompt). The rules must outlive it.
  StepFeeds(const analysis::FeedRules& rules, tensor::NamedData prompt, uint64_t tokens);

  const tensor::NamedData& current() const { return feeds_; }
  uint64_t rows() const { return rows_; }
  // Tokens that were read before the current step, and those that it reads.
  uint64_t past() const { return past_; }
  uint64_t now() const { return now_; }
  // The place of the last token in the logits of the current step; nullopt: the last place.
  std::optional<uint64_t> last_place() const;

  // The inputs of the next step: caches from the outputs, and a token for each row.
  void advance(const tensor::NamedData& outputs, std::span<const int64_t> tokens);

 private:
  void feed_tokens(std::span<const int64_t> tokens);
  void feed_caches(const tensor::NamedData& outputs);
  void feed_opened(const tensor::NamedData& outputs);
  void feed_input(const analysis::StepInput& input);
  tensor::Tensor next_causal_mask(const analysis::StepInput& input, const tensor::Tensor& old) const;

  const analysis::FeedRules* rules_;
  tensor::NamedData feeds_;
  uint64_t rows_ = 1;
  uint64_t past_ = 0;
  uint64_t now_ = 0;
};

// A tensor of whole numbers, in any type of numbers.
tensor::Tensor make_numbers(tensor::DType dtype, tensor::Shape shape, const std::vector<double>& elements);
// Null if there is none of that name.
const tensor::Datum* find_datum(const tensor::NamedData& data, std::string_view name);

}  // namespace assay::tasks
