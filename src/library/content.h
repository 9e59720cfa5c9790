#pragma once

#include <string>
#include <vector>

#include "assay/model.h"
#include "assay/tensor.h"
#include "base/diagnostics.h"
#include "compare/options.h"
#include "ir/model.h"
#include "results/comparison.h"
#include "tasks/load.h"
#include "tensor/named.h"

namespace assay {

// Contents of public classes.
struct Tensor::Content {
  tensor::Tensor array;
  std::string type;
};

struct Model::Content {
  ir::Model model;
  std::string path;  // name of the model in messages
  std::vector<Finding> findings;
};

namespace library {

Tensor to_public(const tensor::Tensor& tensor);
// Values that are no tensors are left out.
Values to_public(const tensor::NamedData& data);
Comparison to_public(const results::PairComparison& pair);
compare::CompareOptions to_internal(const Tolerance& tolerance);
tensor::NamedData to_internal(const Values& values);
std::vector<tensor::NamedData> to_internal(const std::vector<Values>& sets);

Model make_model(ir::Model model, std::string path, const std::vector<Diagnostic>& findings);
// The model as what a task is about.
tasks::ModelSource source_of(const Model& model);

}  // namespace library
}  // namespace assay
