#pragma once

#include "tensorflow/source/model.h"

namespace assay::tensorflow {

// True if a body gives a state as it gets it.
bool hands_on(const SourceGraph& body, size_t state);
// True if a body does nothing with a list but write one tensor to it, and hands it on then, and the condition does not
// look at it.
bool is_written_only(const SourceGraph& body, const SourceGraph& condition, size_t state);

}  // namespace assay::tensorflow
