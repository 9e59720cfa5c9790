#pragma once

#include <string>

#include "results/data_listing.h"

namespace assay::report {

// A listing of saved data as one JSON object of the schema assay/inspect-data/1.
std::string data_json(const results::DataListing& listing);

}  // namespace assay::report
