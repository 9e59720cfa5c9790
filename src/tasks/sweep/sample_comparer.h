#pragma once

#include "compare/options.h"
#include "results/comparison.h"
#include "tasks/sweep/open_model.h"

namespace assay::tasks {

struct Sample {
  uint64_t number = 0;
  tensor::NamedData given;   // inputs, as they were read
  tensor::NamedData labels;  // the rest of what was read
  std::vector<exec::Feed> feeds = {};
};

// The comparison of one sample.
struct SampleDifference {
  bool is_same = true;
  bool is_measured = false;  // some output was
  double max_abs = 0;
  double max_rel = 0;
  double least_cosine = 1;
  std::string output;  // the one that is beyond its tolerance, or with the greatest difference
  std::string fault;   // the reason for measuring nothing of an output
};

// Compares outputs of one sample with those of the reference.
class SampleComparer {
 public:
  // Computes tolerances from the model, where they are asked for. All of them must outlive it.
  SampleComparer(const SweepRequest& request, const OpenModel& model, const Sample& sample,
                 const tensor::NamedData& reference);
  // The result is there until the next call.
  const SampleDifference& compare(const tensor::NamedData& outputs);

 private:
  void add(const results::OutputComparison& output);

  const tensor::NamedData& reference_;
  compare::CompareOptions options_;
  std::map<std::string, compare::Allowance, std::less<>> allowances_;
  compare::Allowance unknown_;
  SampleDifference result_;
};

}  // namespace assay::tasks
