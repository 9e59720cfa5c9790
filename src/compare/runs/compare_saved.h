#pragma once

#include <span>

#include "compare/options.h"
#include "results/comparison.h"
#include "tensor/named.h"

namespace assay::compare {

// The iterations of one saved run, as views.
using SavedIterations = std::span<const tensor::NamedData* const>;

// Compares two existing runs; the second one is the reference.
results::PairComparison compare_saved(SavedIterations a, SavedIterations b, const CompareOptions& options);

}  // namespace assay::compare
