#pragma once

#include <limits>
#include <string>
#include <vector>

#include "results/comparison.h"
#include "tensor/tensor.h"

namespace assay::compare {

// The distance that two correct computations of one tensor may have.
struct Allowance {
  std::vector<float> of_elements;  // one for each; infinite where anything is correct
  // Elements that may be off by more, since a step before them is rare; each by at most `furthest`.
  uint64_t may_be_beyond = 0;
  double furthest = std::numeric_limits<double>::infinity();
  // Largest number of the type, where some correct computations go beyond it and others keep a wider type: infinity
  // counts as this number. Infinite: there are none.
  double edge = std::numeric_limits<double>::infinity();
  // Limit for the root mean square of all differences; infinite: no limit.
  double rms = std::numeric_limits<double>::infinity();
  std::string reason;       // one sentence
  bool is_early = false;    // from fewer runs than all: what is beyond may yet be within
  bool is_unknown = false;  // correct computations may give anything, as far as is known: `reason` says why

  double distance(double a, double b) const;  // 0 also for NaN beside NaN; NaN for NaN beside a number
};

// Differences beside an allowance, added one by one.
struct Overruns {
  // The element furthest beyond.
  struct Worst {
    double share = 0;  // 1 at what is allowed
    double difference = 0;
    double allowed = 0;
    uint64_t index = 0;
  };

  uint64_t count = 0;
  uint64_t far = 0;  // of these, further off than any may be
  uint64_t first = std::numeric_limits<uint64_t>::max();
  Worst worst;
  double squares = 0;  // of finite differences, where not everything is allowed

  // NaN is beyond everything, infinity not beyond infinity.
  void add(uint64_t index, double difference, const Allowance& allowance);
  bool are_allowed(const Allowance& allowance) const { return far == 0 && count <= allowance.may_be_beyond; }
};

Overruns joined(const Overruns& a, const Overruns& b);

// Judges every element of `a` beside `b`, and their differences as a whole; both of one shape, that of the allowance,
// and numbers. NaN is allowed beside NaN only. The failures are counted in `metrics`.
results::Judgement judge_allowed(const tensor::Tensor& a, const tensor::Tensor& b, const Allowance& allowance,
                                 results::PairMetrics& metrics);

}  // namespace assay::compare
