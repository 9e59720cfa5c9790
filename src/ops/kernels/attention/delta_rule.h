#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "ops/node.h"

namespace assay::ops {

// Terms of the recurrence that `update_rule` asks for.
struct DeltaRule {
  bool decays = false;
  bool corrects = false;  // the state's answer to a key is taken off the value

  explicit DeltaRule(const Node& node) {
    const std::string_view word = node.string("update_rule");
    decays = word == "gated" || word == "gated_delta";
    corrects = word == "delta" || word == "gated_delta";
    if (!decays && !corrects && word != "linear") fail(ErrorCode::shape, "attribute `update_rule` is `{}`", word);
  }
};

// The state of one head of one sequence: a row for each element of a key.
class LinearState {
 public:
  LinearState(uint64_t key, uint64_t value) : value_(value), state_(key * value) {}

  std::span<double> state() { return state_; }

  void decay(std::span<const double> logarithms) {
    for (uint64_t i = 0; i < state_.size(); ++i)
      state_[i] *= std::exp(logarithms[logarithms.size() == 1 ? 0 : i / value_]);
  }

  void add(std::span<const double> key, std::span<const double> value) {
    for (uint64_t i = 0; i < state_.size(); ++i) state_[i] += key[i / value_] * value[i % value_];
  }

  // Sums of rows, each times its factor.
  std::vector<double> answer(std::span<const double> factors) const {
    std::vector<double> sums(value_);
    for (uint64_t i = 0; i < state_.size(); ++i) sums[i % value_] += factors[i / value_] * state_[i];
    return sums;
  }

  // Returns what was added, before it met the key.
  std::vector<double> correct(std::span<const double> key, std::span<const double> value, double rate) {
    std::vector<double> rest = answer(key);
    for (uint64_t v = 0; v < value_; ++v) rest[v] = rate * (value[v] - rest[v]);
    add(key, rest);
    return rest;
  }

 private:
  uint64_t value_;
  std::vector<double> state_;
};

}  // namespace assay::ops
