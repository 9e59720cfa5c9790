#include "analysis/value_sizes.h"

#include "analysis/cost.h"
#include "analysis/fed_types.h"

namespace assay::analysis {

std::map<std::string, uint64_t> value_sizes(const ir::Model& model, const tensor::NamedData& feeds) {
  ops::Inference inference(model, fed_types(model, feeds));
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

}  // namespace assay::analysis
