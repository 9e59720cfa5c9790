#include "engine/devices/cuda/nvrtc/cubin_cache.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"

namespace assay::engine::cuda {
namespace {
namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // of all files
constexpr uint64_t kMagic = 0x3142434141535341;

// The begin of a file; the key and the code follow.
struct Head {
  uint64_t magic;
  uint64_t key_bytes;
  uint64_t code_bytes;
  uint64_t code_sum;
};

std::optional<std::vector<std::byte>> read(Bytes bytes, const std::string& key) {
  Head head{};
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  const uint64_t rest = bytes.size() - sizeof head;
  if (head.magic != kMagic || head.key_bytes != key.size() || head.key_bytes > rest ||
      head.code_bytes != rest - head.key_bytes) {
    return std::nullopt;
  }
  const Bytes code = bytes.subspan(sizeof head + key.size());
  if (std::memcmp(bytes.data() + sizeof head, key.data(), key.size()) != 0 || checksum(code) != head.code_sum) {
    return std::nullopt;
  }
  return std::vector<std::byte>(code.begin(), code.end());
}

}  // namespace

fs::path CubinCache::usual_folder() {
  const char* const chosen = std::getenv("ASSAY_CUBIN_CACHE");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  const fs::path base = user_folder("XDG_CACHE_HOME", ".cache");
  return base.empty() ? base : base / "assay" / "cubins";
}

fs::path CubinCache::file_of(const std::string& key) const {
  return folder_ / fmt::format("{:016x}.cubin", checksum(std::as_bytes(std::span(key))));
}

std::optional<std::vector<std::byte>> CubinCache::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const fs::path file = file_of(key);
  if (!is_file(file)) return std::nullopt;
  try {
    std::optional<std::vector<std::byte>> found = read(MappedFile::open(file)->bytes(), key);
    std::error_code error;
    if (found) fs::last_write_time(file, fs::file_time_type::clock::now(), error);  // used just now
    return found;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void CubinCache::add(const std::string& key, std::span<const std::byte> cubin) const {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return;
  const Head head{kMagic, key.size(), cubin.size(), checksum(cubin)};
  try {
    OutputFile file(file_of(key));
    file.write(std::as_bytes(std::span(&head, 1)));
    file.write(key);
    file.write(cubin);
    file.commit();
  } catch (const Error&) {
    return;
  }
  drop_oldest();
}

void CubinCache::drop_oldest() const {
  struct Kept {
    fs::path path;
    fs::file_time_type used;
    uint64_t bytes;
  };
  std::vector<Kept> files;
  uint64_t bytes = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().extension() != ".cubin") continue;
    const uint64_t size = entry.file_size(error);
    if (error) continue;
    files.push_back({entry.path(), entry.last_write_time(error), size});
    bytes += size;
  }
  if (bytes <= kMostBytes) return;
  std::ranges::sort(files, {}, &Kept::used);
  for (const Kept& file : files) {
    if (bytes <= kMostBytes / 2) return;
    fs::remove(file.path, error);
    bytes -= file.bytes;
  }
}

}  // namespace assay::engine::cuda
