#pragma once

#include <string_view>

namespace assay::remote {

// python/assay/host.py and host_*.py
std::string_view host_source();
std::string_view host_messages_source();
std::string_view host_ray_source();
std::string_view host_tensorflow_source();
std::string_view host_tensorrt_source();
std::string_view host_tensorrt_build_source();
std::string_view host_tensorrt_package_source();

}  // namespace assay::remote
