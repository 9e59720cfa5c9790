#pragma once

#include <string_view>

namespace assay::remote {

// python/assay/host.py, host_messages.py and host_tensorrt.py
std::string_view host_source();
std::string_view host_messages_source();
std::string_view host_tensorrt_source();

}  // namespace assay::remote
