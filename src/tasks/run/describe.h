#pragma once

#include "results/run_report.h"
#include "tensor/named.h"

namespace assay::tasks {

// Name, type and shape of a value.
results::RunValue describe(std::string_view name, const tensor::Datum& value);
// True if a value is a tensor whose elements are numbers or booleans.
bool has_statistics(const tensor::Datum& value);

}  // namespace assay::tasks
