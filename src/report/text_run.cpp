#include "report/text_run.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {
namespace {

std::string tuple_text(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers) text += (text.empty() ? "" : ", ") + fmt::format("{}", number);
  return "(" + text + (numbers.size() == 1 ? ",)" : ")");
}

}  // namespace

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

std::string stats_text(const results::TensorStats& stats) {
  const auto place = [](const std::vector<int64_t>& at) { return tuple_text(at); };
  return fmt::format(
      "mean={:.5g}, std-dev={:.5g}, var={:.5g}, median={:.5g}, min={:.5g} at {}, max={:.5g} at {}, "
      "avg-magnitude={:.5g}",
      stats.mean, std::sqrt(stats.variance), stats.variance, stats.median, stats.least, place(stats.least_at),
      stats.greatest, place(stats.greatest_at), stats.mean_magnitude);
}

}  // namespace assay::report
