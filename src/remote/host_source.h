#pragma once

#include <string_view>

namespace assay::remote {

// python/assay/host.py and host_messages.py
std::string_view host_source();
std::string_view host_messages_source();

}  // namespace assay::remote
