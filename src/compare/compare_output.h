#pragma once

#include "compare/options.h"
#include "tensor/named.h"

namespace assay::compare {

// Compares two parts (see flatten) by all functions of the options; settings of an output are those of the first name.
// A tensor against none, and shapes that differ, are faults: nothing is measured then.
results::OutputComparison compare_output(const tensor::NamedDatum& a, const tensor::NamedDatum& b,
                                         const CompareOptions& options, const ComparedAt& at);

}  // namespace assay::compare
