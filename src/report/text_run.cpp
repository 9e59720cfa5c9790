#include "report/text_run.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/text_stats.h"

namespace assay::report {

std::string values_text(const std::vector<results::RunValue>& values) {
  std::string text;
  for (const results::RunValue& value : values) {
    text += text.empty() ? "{" : ",\n ";
    text += fmt::format("{} [dtype={}", printable(value.name), value.type);
    if (value.is_tensor) text += fmt::format(", shape={}", tuple_text(value.shape));
    text += "]";
  }
  return text.empty() ? "{}" : text + "}";
}

}  // namespace assay::report
