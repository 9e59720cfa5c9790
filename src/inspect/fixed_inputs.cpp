#include "inspect/fixed_inputs.h"

#include "ir/edit.h"

namespace assay::inspect {
namespace {

void fix_input(ir::Model& model, ir::ValueId input, const tensor::Tensor& data) {
  std::vector<ir::DimId> dims;
  for (const int64_t dim : data.shape()) dims.push_back(model.dims().constant(dim));
  ir::Edit(model).set_type(input, model.types().tensor(data.dtype(), std::move(dims)));
}

}  // namespace

void fix_inputs(ir::Model& model, const tensor::NamedData& feeds) {
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    for (const tensor::NamedDatum& feed : feeds) {
      const bool fits = feed.name == model.text(model[input].name) && feed.value.is_tensor();
      if (fits) fix_input(model, input, feed.value.tensor());
    }
  }
}

}  // namespace assay::inspect
