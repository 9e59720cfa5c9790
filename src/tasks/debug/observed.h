#pragma once

#include <map>
#include <optional>

#include "ops/interpreter.h"
#include "tasks/inputs.h"
#include "tasks/load.h"

namespace assay::tasks {

// The values of the main graph of a model in one run of the reference, which is made when the first is asked for.
class ObservedValues {
 public:
  // Both must outlive it.
  ObservedValues(const ir::Model& model, const tensor::NamedData& inputs, uint64_t max_memory_bytes = 0);

  // Nothing: it is not computed, or a node before it failed.
  std::optional<tensor::Datum> find(ir::ValueId value);
  std::optional<tensor::Datum> find(std::string_view name);
  // The values in a run that is given these in place of the model's own: these, and all that follow from them.
  std::map<ir::ValueId, tensor::Datum> following(std::span<const tensor::NamedDatum> given);
  // Among those of `changed`, otherwise in the run.
  std::optional<tensor::Datum> find(std::string_view name, const std::map<ir::ValueId, tensor::Datum>& changed);

 private:
  tensor::Datum operand(ir::ValueId value, const std::map<ir::ValueId, tensor::Datum>& changed);
  void run();

  const ir::Model& model_;
  const tensor::NamedData& inputs_;
  uint64_t max_memory_bytes_;
  bool has_run_ = false;
  std::map<ir::ValueId, tensor::Datum> values_;
  std::map<std::string_view, ir::ValueId> names_;
};

// The first set of a model's inputs. Error (usage) if there is none.
tensor::NamedData make_first_inputs(LoadedModel& loaded, const InputRequest& request, Observer& observer);

// Inputs of a session by the values of the model's main graph.
std::vector<ops::InputDatum> as_input_data(const ir::Model& model, std::span<const tensor::NamedDatum> feeds);

}  // namespace assay::tasks
