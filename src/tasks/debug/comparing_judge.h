#pragma once

#include "compare/options.h"
#include "exec/backend.h"
#include "formats/saved_data.h"
#include "tasks/debug.h"
#include "tasks/debug/observed.h"

namespace assay::tasks {

// Judges models by comparing a backend with the reference, with another backend, or with saved results, in this
// process: no file is written.
class ComparingJudge {
 public:
  // `values` of the whole model are what parts of it are fed; null: saved values alone, because what the model computes
  // is what is in doubt.
  ComparingJudge(const ComparisonRequest& request, const ir::Model& whole, const tensor::NamedData& inputs,
                 ObservedValues* values);

  // True if the model fails: outputs differ, or the backend refuses or fails. The first model that fails decides which
  // of the two is meant from then on; Error if another fails in the other way.
  bool fails(const ir::Model& model);
  // Goes on with parts of another model.
  void look_at(const ir::Model& whole, const tensor::NamedData& inputs, ObservedValues* values);
  // The outputs that were expected of the last model.
  const tensor::NamedData& last_expected() const { return expected_of_last_; }
  // Values of saved results; empty: another backend or the reference is what is compared with.
  const tensor::NamedData& saved() const { return saved_; }
  // True if the whole model fails because outputs differ, and not because the backend does.
  bool differs_in_values() const { return has_failed_ && !error_shape_; }
  // The failure of the whole model: `y: max abs 0.1 …`, or the error.
  const std::string& symptom() const { return symptom_; }

 private:
  tensor::NamedData run(const std::string& backend, const ir::Model& model, std::span<const exec::Feed> feeds) const;
  std::vector<exec::Feed> feeds_of(const ir::Model& model);
  tensor::Datum fed_as(const ir::Model& model, ir::ValueId input, tensor::Datum value);
  tensor::NamedData expected_of(const ir::Model& model, std::span<const exec::Feed> feeds);
  bool differ(const tensor::NamedData& outputs, const tensor::NamedData& expected, std::string& where) const;
  bool judge_error(const Error& error);

  void compute_tolerances(const ir::Model& whole);

  const ComparisonRequest& request_;
  const tensor::NamedData* inputs_;
  ObservedValues* values_;
  compare::CompareOptions options_;
  tensor::NamedData saved_;
  std::optional<std::string> error_shape_;  // the whole model fails with such an error
  bool has_failed_ = false;
  std::string symptom_;
  tensor::NamedData expected_of_last_;
  tensor::NamedData rounded_feeds_;  // of the last model: values that its type has rounded, in their own types
};

}  // namespace assay::tasks
