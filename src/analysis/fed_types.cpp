#include "analysis/fed_types.h"

namespace assay::analysis {

ops::InputTypes fed_types(const ir::Model& model, const tensor::NamedData& feeds) {
  ops::InputTypes types;
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    for (const tensor::NamedDatum& feed : feeds) {
      if (feed.name != model.text(model[input].name) || !feed.value.is_tensor()) continue;
      const tensor::Tensor& data = feed.value.tensor();
      types.insert_or_assign(input, ops::Type::tensor(data.dtype(), ops::dims_of(data.shape())));
    }
  }
  return types;
}

}  // namespace assay::analysis
