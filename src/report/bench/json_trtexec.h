#pragma once

#include <string>

#include "results/bench.h"
#include "tensor/named.h"

namespace assay::report {

// In the forms of trtexec, in milliseconds: arrays of runs and of layers, the layers' names, and outputs.
std::string trtexec_times(const results::BenchSide& side);
std::string trtexec_profile(const results::LayerProfile& profile);
std::string trtexec_layers(const results::Bench& bench, const tensor::NamedData& outputs);
std::string trtexec_outputs(const tensor::NamedData& outputs);

}  // namespace assay::report
