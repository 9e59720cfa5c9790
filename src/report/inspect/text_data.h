#pragma once

#include <string>

#include "results/data_listing.h"

namespace assay::report {

// A listing of saved data, laid out as the peer does, without a final line break. The line for a histogram is kept
// even if there is none.
std::string data_text(const results::DataListing& listing, bool with_histogram);

}  // namespace assay::report
