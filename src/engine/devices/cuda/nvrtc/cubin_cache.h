#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::engine::cuda {

// Compiled kernels in a folder of the user, shared by all processes. A kept kernel is found only by the very text that
// it was compiled from. Whatever goes wrong with files means that there is no cache.
class CubinCache {
 public:
  // An empty folder: nothing is kept.
  explicit CubinCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // $ASSAY_CUBIN_CACHE, or assay/cubins in the user's folder for caches.
  static std::filesystem::path usual_folder();

  // `key`: the text with all that decides about its code.
  std::optional<std::vector<std::byte>> find(const std::string& key) const;
  void add(const std::string& key, std::span<const std::byte> cubin) const;

 private:
  std::filesystem::path file_of(const std::string& key) const;
  void drop_oldest() const;

  std::filesystem::path folder_;
};

}  // namespace assay::engine::cuda
