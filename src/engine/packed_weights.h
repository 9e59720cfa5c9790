#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "tensor/tensor.h"

namespace assay::engine {

// Constants in the forms that kernels want, each made once and shared by all programs of a session; a form that no
// kernel holds any more is dropped, unless it was preset. May be used from several threads.
class PackedWeights {
 public:
  using Bytes = std::shared_ptr<const std::byte>;

  // `weights` in the form of this name, `size_bytes` long; `fill` writes it where it is not kept yet.
  Bytes get(const tensor::Tensor& weights, const std::string& form, uint64_t size_bytes,
            const std::function<void(std::byte*)>& fill);
  // A form that was made earlier, of the tensor that begins there; it lies in memory, as of a file that is mapped.
  void preset(const std::byte* weights, const std::string& form, const Bytes& bytes, uint64_t size_bytes);

  // A form that a kernel holds, of the tensor that begins there.
  struct Kept {
    const std::byte* weights = nullptr;
    std::string form;
    Bytes bytes;
    uint64_t size_bytes = 0;
  };
  std::vector<Kept> kept() const;
  std::vector<Kept> kept_of(const tensor::Tensor& weights) const;

 private:
  using Key = std::tuple<const std::byte*, std::string>;  // of the tensor's first byte
  struct Form {
    std::weak_ptr<const std::byte> bytes;
    uint64_t size_bytes = 0;
    Bytes preset;  // holds the bytes
  };
  static void add_kept(const std::pair<const Key, Form>& form, std::vector<Kept>& all);

  mutable std::mutex mutex_;
  std::map<Key, Form> forms_;
};

}  // namespace assay::engine
