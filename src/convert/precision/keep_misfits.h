#pragma once

#include <map>

#include "calibrate/magnitudes.h"
#include "convert/precision/half_options.h"
#include "ir/model.h"

namespace assay::convert {

// Keeps in float32 the nodes whose measured values reach beyond this share of the type's largest number, or are all
// tiny; of the others that were measured it is known that their values fit. Returns the greatest magnitude of each.
std::map<ir::NodeId, double> keep_misfits(const ir::Model& model, const calibrate::Magnitudes& magnitudes,
                                          double margin, HalfOptions& options);

}  // namespace assay::convert
