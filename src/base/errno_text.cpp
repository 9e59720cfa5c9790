#include "base/errno_text.h"

#include <cstring>

#include <fmt/core.h>

#include "base/text.h"

namespace assay {

std::string errno_text(int error) {
  const char* text = strerrordesc_np(error);
  return text != nullptr ? to_lower(text) : fmt::format("error {}", error);
}

}  // namespace assay
