#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/shared_library.h"
#include "engine/devices/cuda/driver/api.h"
#include "exec/library_search.h"
#include "tensor/dtype.h"

namespace assay::engine::cuda::nccl {

struct CommunicatorOpaque;
using Communicator = CommunicatorOpaque*;

// NCCL, NVIDIA's library of collectives between cards. It is kept from using NVLink multicast.
class Library {
 public:
  static const exec::LibraryKind& kind();
  // The library of the user's environment or system; null with a reason.
  static const Library* find(const exec::LibrarySearch& search, std::string& reason);
  // Error (backend): it has another interface than the one that is known.
  explicit Library(SharedLibrary library);

  std::string version() const;
  const std::filesystem::path& path() const { return library_.path(); }

  // Operands and results of one rank's call.
  struct Work {
    DevicePointer from = 0;
    DevicePointer to = 0;
    uint64_t count = 0;  // elements of the operand, or of the result where that is a share of it
    tensor::DType dtype = tensor::DType::undefined;
    std::string_view reduction;
    int root = 0;
  };
  static bool takes(std::string_view operation, tensor::DType dtype);
  // Adds the work of one rank to its stream. Ranks call it at the same time.
  void add(std::string_view operation, const Work& work, Communicator communicator, Stream stream) const;

 private:
  friend class Communicators;
  using Result = int;
  struct Api {
    Result (*version)(int*);
    Result (*init_all)(Communicator*, int, const int*);
    Result (*destroy)(Communicator);
    const char* (*error_text)(Result);
    Result (*all_reduce)(const void*, void*, size_t, int, int, Communicator, Stream);
    Result (*reduce_scatter)(const void*, void*, size_t, int, int, Communicator, Stream);
    Result (*all_gather)(const void*, void*, size_t, int, Communicator, Stream);
    Result (*broadcast)(const void*, void*, size_t, int, int, Communicator, Stream);
  };

  void check(Result result, std::string_view what) const;

  SharedLibrary library_;
  Api api_{};
  int version_ = 0;
};

// One communicator for each of some cards, in their order.
class Communicators {
 public:
  Communicators(const Library& library, std::span<const int> cards);
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;
  const Library& library() const { return library_; }
  Communicator operator[](size_t place) const { return all_[place]; }

 private:
  const Library& library_;
  std::vector<Communicator> all_;
};

}  // namespace assay::engine::cuda::nccl
