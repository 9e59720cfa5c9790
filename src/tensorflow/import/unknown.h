#pragma once

#include "tensorflow/source/model.h"

namespace assay::tensorflow {

// Error (unsupported) that names all operators which the outputs need and nobody knows how to make.
void refuse_unknown(const SourceModel& source);

}  // namespace assay::tensorflow
