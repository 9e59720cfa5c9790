#pragma once

#include <memory>
#include <optional>

#include "exec/runner.h"
#include "tasks/load.h"
#include "tasks/sweep/samples.h"

namespace assay::tasks {

// A model that is open for one shard after the other: its variants and sessions are made when they are first needed.
class OpenModel {
 public:
  OpenModel(const SweepRequest& request, const results::SweepPlan& plan, size_t number);

  const ir::Model& model() const { return loaded_.model; }
  SampleReader& samples() { return *samples_; }
  const exec::Signature& signature() const { return signature_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  // The operator that gives an output; empty: none does.
  std::string op_of(std::string_view output) const;

  // The session of a column. Error, once more at each call, if it cannot be made.
  exec::Runner& runner(size_t column);

 private:
  struct Column {
    std::unique_ptr<ir::Model> variant;
    exec::RunnerPtr runner;
    std::optional<Error> failure;
  };
  void open(size_t number, Column& column);
  const ir::Model& variant_of(size_t number, Column& column);

  const SweepRequest& request_;
  const results::SweepPlan& plan_;
  std::string path_;
  LoadedModel loaded_;
  exec::Signature signature_;
  std::vector<std::string> outputs_;
  std::unique_ptr<SampleReader> samples_;
  std::vector<Column> columns_;
};

}  // namespace assay::tasks
