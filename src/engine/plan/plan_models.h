#pragma once

#include <map>
#include <span>

#include "engine/device/kernel_code.h"
#include "engine/plan/manifest.h"
#include "engine/plan/plan_writer.h"
#include "ir/model.h"

namespace assay::engine {

// The model of this number; its weights stay in the plan. Elements of others are not there: asking for them is an
// Error (io). Error (parse) if it is no model that can be run.
ir::Model read_model(const PlanFile& plan, uint64_t number, std::span<const PlacedWeights> weights);

// Writes the sections of a plan as they come. Tensors with the same elements share one.
class PlanSections {
 public:
  explicit PlanSections(const std::filesystem::path& path) : file_(path) {}

  // With the elements of its initializers as weights; without them, only those of outputs are, and small ones stay in
  // the model itself. The models must live until the plan is finished.
  std::vector<PlacedWeights> add_model(const ir::Model& model, bool with_weights);
  // Weights of a model that is added later. Their bytes must stay until something else is added.
  void add_weights(const tensor::Tensor& weights);
  // A form of the weights of that identity. It is not found later if they are not added with a model. Likewise.
  void add_packed(const void* weights, const std::string& form, Bytes bytes);
  // Code that was compiled for a device. The bytes must stay until something else is added.
  void add_code(const std::string& device, const KernelCode& code, std::string seal) {
    code_.push_back({device, code.name, std::move(seal), file_.add(SectionKind::code, code.view())});
  }
  void wait() { file_.wait(); }
  // Fills in what the manifest says of packed weights and code. The plan appears under its name.
  void finish(Manifest manifest);

 private:
  std::optional<uint64_t> find(const tensor::Storage& storage) const;
  std::optional<uint64_t> find_equal(const tensor::Storage& storage, uint64_t sum) const;
  void note(const tensor::StoragePtr& storage, uint64_t sum, uint64_t number);
  uint64_t place_weights(const tensor::StoragePtr& storage);

  struct Packed {
    const void* weights = nullptr;
    std::string form;
  };
  PlanWriter file_;
  std::vector<tensor::StoragePtr> models_;
  std::vector<tensor::StoragePtr> weights_;  // by section
  std::vector<Packed> packed_;               // by section
  std::vector<CompiledCode> code_;
  struct Known {
    tensor::StoragePtr storage;  // so that no other can have its identity
    uint64_t number = 0;         // section
  };
  std::map<const void*, Known> by_identity_;
  std::multimap<uint64_t, uint64_t> by_checksum_;
};

}  // namespace assay::engine
