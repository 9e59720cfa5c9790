#include "formats/tensorrt_plan.h"

#include <array>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/text.h"

namespace assay::formats {
namespace {

constexpr size_t kSize = 16;  // of the file
constexpr size_t kVersion = 24;
constexpr size_t kCapabilities = 32;  // bits, of TensorRT-RTX
constexpr size_t kHeader = 64;
constexpr std::array<std::string_view, 7> kCapabilityBits = {"7.5", "8.0", "8.6", "8.9", "12.0", "12.1", "later"};

template <typename T>
T number_at(Bytes bytes, size_t offset) {
  T value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace

std::optional<TensorRtPlan> read_tensorrt_plan(const std::filesystem::path& path) {
  if (!is_file(path)) return std::nullopt;
  const auto file = MappedFile::open(path);
  const Bytes bytes = file->bytes();
  const std::string_view magic(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 4));
  if (magic != "ftrt" && magic != "vtrt") return std::nullopt;
  TensorRtPlan plan = {.is_rtx = magic == "vtrt", .version = {}, .capabilities = {}, .file_bytes = bytes.size()};
  const std::string name = printable(path.string());
  if (bytes.size() < kHeader) fail(ErrorCode::parse, "`{}` is an engine of TensorRT that is cut off", name);
  const auto part = [&](size_t i) { return static_cast<unsigned>(bytes[kVersion + i]); };
  plan.version = fmt::format("{}.{}.{}.{}", part(0), part(1), part(2), part(3));
  if (!plan.is_rtx) return plan;
  if (const auto size = number_at<uint64_t>(bytes, kSize); size > bytes.size()) {
    fail(ErrorCode::parse, "`{}` is an engine of TensorRT-RTX that is cut off: it has {} of {} bytes", name,
         bytes.size(), size);
  }
  const auto bits = number_at<uint32_t>(bytes, kCapabilities);
  for (size_t bit = 0; bit < kCapabilityBits.size(); ++bit) {
    if ((bits >> bit & 1) != 0) plan.capabilities.emplace_back(kCapabilityBits[bit]);
  }
  return plan;
}

}  // namespace assay::formats
