#include "engine/plan/code_seal.h"

#include <array>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/paths.h"
#include "base/sha256.h"

namespace assay::engine {
namespace {
namespace fs = std::filesystem;

constexpr size_t kKeyBytes = 32;

fs::path key_file() {
  const fs::path base = user_folder("XDG_CONFIG_HOME", ".config");
  return base.empty() ? base : base / "assay" / "plan.key";
}

std::optional<std::string> read_key(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string key(kKeyBytes, '\0');
  struct stat facts {};
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  const bool is_own = ::fstat(fd, &facts) == 0 && facts.st_uid == ::geteuid() && (facts.st_mode & kOthers) == 0;
  const bool is_read = is_own && ::read(fd, key.data(), key.size()) == static_cast<ssize_t>(key.size());
  ::close(fd);
  return is_read ? std::optional(key) : std::nullopt;
}

// Puts a new key into the file of that path, unless another process has put its own there meanwhile.
void make_key(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::array<char, kKeyBytes> key{};
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) return;
  const fs::path unfinished = fmt::format("{}.{}", path.string(), ::getpid());
  const int fd = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return;
  const bool is_written = ::write(fd, key.data(), key.size()) == static_cast<ssize_t>(key.size());
  if (::close(fd) == 0 && is_written) static_cast<void>(::link(unfinished.c_str(), path.c_str()));
  ::unlink(unfinished.c_str());
}

}  // namespace

std::optional<CodeSeal> CodeSeal::find() {
  const fs::path path = key_file();
  const std::optional<std::string> key = path.empty() ? std::nullopt : read_key(path);
  return key ? std::optional(CodeSeal(*key)) : std::nullopt;
}

std::optional<CodeSeal> CodeSeal::make() {
  const fs::path path = key_file();
  if (!path.empty() && !is_there(path)) make_key(path);
  return find();
}

std::string CodeSeal::of(const std::string& device, const KernelCode& code) const {
  std::string sealed = fmt::format("{}\n{}\n", device, code.name);
  sealed.append(reinterpret_cast<const char*>(code.first.get()), code.bytes);
  const Digest digest = keyed_sha256(key_, sealed);
  return base64_encode(std::as_bytes(std::span(digest)));
}

}  // namespace assay::engine
