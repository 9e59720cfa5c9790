#pragma once

#include "calibrate/magnitudes.h"
#include "convert/precision/half_options.h"
#include "ir/model.h"

namespace assay::convert {

// Keeps in float32 the nodes whose measured values reach beyond this share of the type's largest number, or are all
// tiny; enters what was measured into the options.
void keep_misfits(const ir::Model& model, const calibrate::Magnitudes& magnitudes, double margin, HalfOptions& options);

}  // namespace assay::convert
