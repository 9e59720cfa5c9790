#pragma once

#include <memory>
#include <string>

#include "base/shared_library.h"
#include "engine/devices/cpu/onednn/api.h"
#include "exec/library_search.h"

namespace assay::engine::cpu::onednn {

template <typename T>
using Owned = std::unique_ptr<T, Status (*)(T*)>;

// oneDNN, opened and checked. There is one for each file, made on first use, and it lives as long as the process.
class Library {
 public:
  // Takes over what was opened; find() makes the only one of a file.
  explicit Library(SharedLibrary library);
  static const exec::LibraryKind& kind();
  // Null, with the reason, where there is none or it is not what it should be.
  static const Library* find(const exec::LibrarySearch& search, std::string& reason);

  const Api& api() const { return api_; }
  Engine* engine() const { return engine_; }
  // The stream of the calling thread.
  Stream* stream() const;
  std::string version() const;
  // Error (backend) with what was tried.
  void check(Status status, std::string_view what) const;

 private:
  friend class OneThread;
  template <typename Function>
  void load(Function*& function, const char* name);
  void load_all();

  SharedLibrary library_;
  Api api_{};
  Engine* engine_ = nullptr;
  void (*set_threads_)(int) = nullptr;
  int (*get_threads_)() = nullptr;
};

// While it lives, oneDNN works in the calling thread alone: work is divided by our pool.
class [[nodiscard]] OneThread {
 public:
  explicit OneThread(const Library& library);
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const Library& library_;
  int threads_ = 0;
};

}  // namespace assay::engine::cpu::onednn
