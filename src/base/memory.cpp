#include "base/memory.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

namespace assay {
namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::optional<uint64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

// The number behind a word at the start of a line.
std::optional<uint64_t> number_behind(const fs::path& path, std::string_view word) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(word) && line.size() > word.size() && !std::isalnum(line[word.size()])) {
      const size_t digit = line.find_first_of("0123456789", word.size());
      if (digit != std::string::npos) return std::strtoull(line.c_str() + digit, nullptr, 10);
    }
  }
  return std::nullopt;
}

uint64_t difference(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* cache;  // in memory.stat: what the kernel gives back when it is needed
};

constexpr GroupFiles kFirstVersion = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles kSecondVersion = {"memory.max", "memory.current", "inactive_file"};

// Bytes left to a group and to all groups around it.
uint64_t left_in(const fs::path& mount, std::string_view group, const GroupFiles& files) {
  uint64_t least = UINT64_MAX;
  fs::path path = fs::path(group).relative_path();
  for (;;) {
    const fs::path folder = mount / path;
    const std::optional<uint64_t> limit = number_in(folder / files.limit);  // `max` is none
    if (limit) {
      const uint64_t cache = number_behind(folder / "memory.stat", files.cache).value_or(0);
      const uint64_t usage = difference(number_in(folder / files.usage).value_or(0), cache);
      least = std::min(least, difference(*limit, usage));
    }
    if (path.empty()) return least;
    path = path.parent_path();
  }
}

uint64_t resource_left(int resource, const char* used) {
  rlimit limit = {};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return UINT64_MAX;
  }
  return difference(limit.rlim_cur, number_behind("/proc/self/status", used).value_or(0) * 1024);
}

uint64_t machine_left() {
  if (const std::optional<uint64_t> kilobytes = number_behind("/proc/meminfo", "MemAvailable"))
    return *kilobytes * 1024;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes) : UINT64_MAX;
}

}  // namespace

uint64_t group_memory_left(const fs::path& mount, std::string_view groups) {
  uint64_t least = UINT64_MAX;
  while (!groups.empty()) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(groups.size(), line.size() + 1));
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (controllers.empty()) least = std::min(least, left_in(mount, group, kSecondVersion));
    if (controllers == "memory") least = std::min(least, left_in(mount / "memory", group, kFirstVersion));
  }
  return least;
}

void return_freed_memory() { malloc_trim(0); }

void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the greatest that it takes
  mallopt(M_TRIM_THRESHOLD, 400 << 20);
}

void limit_memory(uint64_t bytes) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const uint64_t used = number_behind("/proc/self/status", "VmData").value_or(0) * 1024;
  limit.rlim_cur = std::min<uint64_t>(limit.rlim_max, used + std::min(bytes, UINT64_MAX - used));
  setrlimit(RLIMIT_DATA, &limit);
}

uint64_t available_memory_bytes() {
  const uint64_t of_groups = group_memory_left("/sys/fs/cgroup", text_of("/proc/self/cgroup"));
  const uint64_t of_process = std::min(resource_left(RLIMIT_AS, "VmSize"), resource_left(RLIMIT_DATA, "VmData"));
  return std::min({machine_left(), of_groups, of_process});
}

}  // namespace assay
