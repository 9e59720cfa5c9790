#pragma once

#include "tasks/convert/layer_errors.h"

namespace assay::tasks {

// The ranges of the values of these names: out of the cache, if there is one; the others by running the model, and the
// cache is written then. With a cache and no data of the user's, what the cache lacks is left out, and said.
passes::ValueRanges find_ranges(const Int8Request& request, const passes::QdqOptions& options, ConversionJob& job,
                                LayerErrors& measuring, const std::vector<std::string>& names);

}  // namespace assay::tasks
