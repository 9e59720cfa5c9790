#pragma once

#include <span>

#include "engine/plan/manifest.h"
#include "engine/plan/plan_file.h"
#include "ir/model.h"

namespace assay::engine {

// The model of this number; its weights stay in the plan. Elements of others are not there: asking for them is an
// Error (io). Error (parse) if it is no model that can be run.
ir::Model read_model(const PlanFile& plan, uint64_t number, std::span<const PlacedWeights> weights);

// Collects the sections of a plan. Tensors with the same elements share one.
class PlanSections {
 public:
  // With the elements of its initializers as weights; without them, only those of outputs are, and small ones stay in
  // the model itself.
  std::vector<PlacedWeights> add_model(const ir::Model& model, bool with_weights);
  // A form of the weights of that identity. Those that were not added with a model have no place in the plan.
  void add_packed(const void* weights, const std::string& form, const tensor::StoragePtr& bytes);
  // Fills in what the manifest says of packed weights. As write_plan().
  void write(const std::filesystem::path& path, Manifest manifest) const;

 private:
  uint64_t add_weights(const tensor::Tensor& tensor);

  std::vector<tensor::StoragePtr> models_;
  std::vector<Section> weights_;
  std::map<std::pair<uint64_t, std::string>, tensor::StoragePtr> packed_;  // by weights and form
  std::map<const void*, uint64_t> by_identity_;
  std::multimap<uint64_t, uint64_t> by_checksum_;
};

}  // namespace assay::engine
