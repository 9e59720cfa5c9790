#pragma once

#include "compare/options.h"
#include "tensor/named.h"

namespace assay::compare {

// Compares two parts (see flatten) by all functions of the options; the first name selects the output's settings.
// A missing tensor on one side and different shapes are faults; nothing is measured then.
results::OutputComparison compare_output(const tensor::NamedDatum& a, const tensor::NamedDatum& b,
                                         const CompareOptions& options, const ComparedAt& at);

}  // namespace assay::compare
