#pragma once

#include <string_view>

namespace assay::remote {

// python/assay/host.py
std::string_view host_source();

}  // namespace assay::remote
