#include "inspect/value_sizes.h"

#include "inspect/cost.h"
#include "inspect/fixed_inputs.h"
#include "ops/inference.h"

namespace assay::inspect {
std::map<std::string, uint64_t> value_sizes(ir::Model& model, const tensor::NamedData& feeds) {
  fix_inputs(model, feeds);
  ops::Inference inference(model);
  inference.run();
  std::map<std::string, uint64_t> sizes;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    for (const ir::ValueId value : model[node].results) {
      const std::optional<int64_t> bytes = value_bytes(model, inference, value).number();
      if (value.valid() && bytes) sizes.emplace(model.text(model[value].name), static_cast<uint64_t>(*bytes));
    }
  }
  return sizes;
}

}  // namespace assay::inspect
