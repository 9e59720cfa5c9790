#pragma once

#include <string_view>

namespace assay {

// One file of a folder whose listing is a registry (cmake/Registry.cmake): its path without `.cpp`, and what it
// defines.
template <typename T>
struct Registered {
  std::string_view path;
  T (*make)();
};

}  // namespace assay
