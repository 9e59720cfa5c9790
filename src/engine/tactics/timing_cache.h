#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace assay::engine {

// The times of tactics for layers, by layer_key. Measurements of another machine or another number of threads are kept
// apart. May be used from several threads.
class TimingCache {
 public:
  TimingCache() = default;
  // Error (parse) if the text is no timing cache.
  static TimingCache parse(std::string_view text);
  std::string text() const;  // equal for equal contents

  std::optional<double> find(std::string_view machine, const std::string& layer, const std::string& tactic) const;
  void add(std::string_view machine, const std::string& layer, const std::string& tactic, double seconds);
  // Measurements of the other that are not here.
  void merge(const TimingCache& other);
  size_t size() const;
  bool has(std::string_view machine) const;

  TimingCache(TimingCache&& other) noexcept : machines_(std::move(other.machines_)) {}
  TimingCache& operator=(TimingCache&&) = delete;

 private:
  using Layers = std::map<std::string, std::map<std::string, uint64_t>>;  // nanoseconds by layer and tactic
  mutable std::mutex mutex_;
  std::map<std::string, Layers, std::less<>> machines_;
};

}  // namespace assay::engine
