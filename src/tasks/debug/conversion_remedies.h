#pragma once

#include <span>

#include "tasks/debug/remedies.h"

namespace assay::tasks {

// Converts the model anew where the other model, its conversion to 16-bit floats or int8, has culprits: with these
// layers left as they are, with ranges measured, or with other calibrations; and says what the error of the outputs is
// then. None if the other model is no such conversion, since most of its layers are not of that type.
std::vector<results::Remedy> try_conversions(const RemedyCase& given, const debug::Counterpart& other,
                                             std::span<const debug::Accused> culprits,
                                             const results::AccuracySide& side);

}  // namespace assay::tasks
