#pragma once

#include <functional>
#include <vector>

#include "results/bench.h"
#include "tasks/bench.h"
#include "tensor/named.h"

namespace assay::tasks {

// Gives the outputs for a set of inputs.
using RunOnce = std::function<tensor::NamedData(const tensor::NamedData& inputs)>;

// The losses of all outputs for which there are files, pair by pair; `inputs` is what files of inputs go into. NaN
// where the file has none fails, whatever the function. Error (usage) for files that do not fit.
std::vector<results::ReferenceLoss> check_references(const ReferenceCheck& check, const tensor::NamedData& inputs,
                                                     const RunOnce& run);

// The loss of one output beside what was expected of it.
results::ReferenceLoss loss_of(const ReferenceCheck& check, const std::string& output, const tensor::Tensor& seen,
                               const tensor::Tensor& expected);

}  // namespace assay::tasks
