#include "formats/calibration_cache.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace assay::formats {
namespace {

constexpr std::string_view kHead = "TRT-";
constexpr std::string_view kVersion = "TRT-100000-";  // of the tables that version 10 writes

std::string_view without_return(std::string_view line) { return line.substr(0, line.find_last_not_of('\r') + 1); }

// `TRT-8502-EntropyCalibration2`; empty for other lines.
std::string algorithm_of(std::string_view line) {
  if (!line.starts_with(kHead)) return {};
  const size_t dash = line.find('-', kHead.size());
  return dash == std::string_view::npos ? std::string() : std::string(line.substr(dash + 1));
}

std::optional<float> scale_of(std::string_view digits) {
  constexpr int kHex = 16;
  uint32_t bits = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, kHex);
  if (fault != std::errc() || end != digits.data() + digits.size() || digits.size() > sizeof(bits) * 2) return {};
  const float scale = std::bit_cast<float>(bits);
  if (!std::isfinite(scale) || !(scale > 0)) return {};
  return scale;
}

void read_line(std::string_view line, uint64_t number, CalibrationCache& cache) {
  // Names may have colons of their own.
  const size_t colon = line.rfind(": ");
  const std::optional<float> scale = colon == std::string_view::npos ? std::nullopt : scale_of(line.substr(colon + 2));
  const bool is_one_line = line.find('\r') == std::string_view::npos;  // a name that could not be written again
  if (!scale || colon == 0 || !is_one_line) {
    fail(ErrorCode::parse, "line {}: expected `<name>: <scale above 0, as eight hexadecimal digits>`, seen `{}`",
         number, printable(line.substr(0, 80)));
  }
  cache.scales.insert_or_assign(std::string(line.substr(0, colon)), *scale);
}

}  // namespace

CalibrationCache parse_calibration_cache(std::string_view text) {
  const std::vector<std::string_view> lines = split(text, '\n');
  CalibrationCache cache;
  cache.algorithm = lines.empty() ? "" : algorithm_of(without_return(lines[0]));
  if (cache.algorithm.empty()) {
    fail(ErrorCode::parse, "line 1: expected `TRT-<version>-<algorithm>`, seen `{}`",
         printable(text.substr(0, std::min<size_t>(text.find('\n'), 80))));
  }
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::string_view line = without_return(lines[i]);
    if (!line.empty()) read_line(line, i + 1, cache);
  }
  return cache;
}

std::string calibration_cache_text(const CalibrationCache& cache) {
  std::string text = fmt::format("{}{}\n", kVersion, cache.algorithm);
  for (const auto& [name, scale] : cache.scales) {
    if (name.empty() || name.find_first_of("\r\n") != std::string::npos) continue;
    text += fmt::format("{}: {:08x}\n", name, std::bit_cast<uint32_t>(scale));
  }
  return text;
}

CalibrationCache read_calibration_cache(const std::filesystem::path& path) {
  return with_frame([&] { return fmt::format("reading the calibration cache `{}`", printable(path.string())); },
                    [&] {
                      const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
                      const Bytes bytes = file->bytes();
                      return parse_calibration_cache({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
                    });
}

void write_calibration_cache(const std::filesystem::path& path, const CalibrationCache& cache) {
  OutputFile out(path);
  out.write(calibration_cache_text(cache));
  out.commit();
}

}  // namespace assay::formats
