#include "engine/tactics/timing_cache.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace assay::engine {
namespace {

constexpr std::string_view kTitle = "assay timing cache 1";
constexpr std::string_view kMachine = "machine ";
constexpr std::string_view kLayer = "layer ";

[[noreturn]] void refuse(size_t line, std::string_view what) {
  fail(ErrorCode::parse, "no timing cache: {} in line {}", what, line);
}

// `1234 tactic`
std::pair<uint64_t, std::string_view> parse_measurement(std::string_view text, size_t line) {
  uint64_t nanoseconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), nanoseconds);
  const auto digits = static_cast<size_t>(end - text.data());
  if (error != std::errc() || digits + 1 >= text.size() || text[digits] != ' ') refuse(line, "no measurement");
  return {nanoseconds, text.substr(digits + 1)};
}

}  // namespace

TimingCache TimingCache::parse(std::string_view text) {
  TimingCache cache;
  Layers* layers = nullptr;
  std::map<std::string, uint64_t>* tactics = nullptr;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line == 1) {
      if (row != kTitle) refuse(line, "another title");
    } else if (row.starts_with(kMachine)) {
      layers = &cache.machines_[std::string(row.substr(kMachine.size()))];
      tactics = nullptr;
    } else if (row.starts_with(kLayer)) {
      if (layers == nullptr) refuse(line, "a layer without a machine");
      tactics = &(*layers)[std::string(row.substr(kLayer.size()))];
    } else {
      if (tactics == nullptr) refuse(line, "a measurement without a layer");
      const auto [nanoseconds, tactic] = parse_measurement(row, line);
      tactics->insert_or_assign(std::string(tactic), nanoseconds);
    }
  }
  return cache;
}

std::string TimingCache::text() const {
  const std::scoped_lock lock(mutex_);
  std::string text = fmt::format("{}\n", kTitle);
  for (const auto& [machine, layers] : machines_) {
    text += fmt::format("{}{}\n", kMachine, machine);
    for (const auto& [layer, tactics] : layers) {
      text += fmt::format("{}{}\n", kLayer, layer);
      for (const auto& [tactic, nanoseconds] : tactics) text += fmt::format("{} {}\n", nanoseconds, tactic);
    }
  }
  return text;
}

std::optional<double> TimingCache::find(std::string_view machine, const std::string& layer,
                                        const std::string& tactic) const {
  const std::scoped_lock lock(mutex_);
  const auto layers = machines_.find(machine);
  if (layers == machines_.end()) return std::nullopt;
  const auto tactics = layers->second.find(layer);
  if (tactics == layers->second.end()) return std::nullopt;
  const auto known = tactics->second.find(tactic);
  if (known == tactics->second.end()) return std::nullopt;
  return static_cast<double>(known->second) * 1e-9;
}

void TimingCache::add(std::string_view machine, const std::string& layer, const std::string& tactic, double seconds) {
  const std::scoped_lock lock(mutex_);
  machines_[std::string(machine)][layer].insert_or_assign(tactic, static_cast<uint64_t>(std::llround(seconds * 1e9)));
}

void TimingCache::merge(const TimingCache& other) {
  const std::scoped_lock lock(mutex_, other.mutex_);
  for (const auto& [machine, layers] : other.machines_) {
    for (const auto& [layer, tactics] : layers) machines_[machine][layer].insert(tactics.begin(), tactics.end());
  }
}

size_t TimingCache::size() const {
  const std::scoped_lock lock(mutex_);
  size_t count = 0;
  for (const auto& [machine, layers] : machines_) count += layers.size();
  return count;
}

bool TimingCache::has(std::string_view machine) const {
  const std::scoped_lock lock(mutex_);
  return machines_.contains(machine);
}

}  // namespace assay::engine
