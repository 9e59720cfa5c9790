#pragma once

#include "tasks/convert/layer_errors.h"

namespace assay::tasks {

// The ranges of the named values: from the cache if it exists; the rest by running the model, after which the cache is
// written. With a cache and no user data, values missing from the cache are left out with a message. Without names the
// cache is only checked. Error (io) for a cache that can be neither read nor written.
passes::ValueRanges find_ranges(const Int8Request& request, const passes::QdqOptions& options, ConversionJob& job,
                                LayerErrors& measuring, const std::vector<std::string>& names);

}  // namespace assay::tasks
