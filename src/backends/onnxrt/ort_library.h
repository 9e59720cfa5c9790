#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "backends/onnxrt/ort_api.h"
#include "base/shared_library.h"
#include "exec/library_search.h"

namespace assay::backends::ort {

// An object of the library that is freed with its owner.
template <typename T>
struct Releaser {
  void (*release)(T*);
  void operator()(T* object) const { release(object); }
};
template <typename T>
using Owned = std::unique_ptr<T, Releaser<T>>;

// ONNX Runtime, opened and checked. There is one for each file, made on first use, and it lives as long as the process:
// its environment has threads and may not be taken down while the process exits.
class Library {
 public:
  // Takes over what was opened; get() makes the only one of a file.
  explicit Library(SharedLibrary library);
  static const exec::LibraryKind& kind();
  // Error (backend) if there is none, or it is not what it should be.
  static const Library& get(const exec::LibrarySearch& search);

  const std::string& version() const { return version_; }
  int minor_version() const { return minor_version_; }
  const std::filesystem::path& path() const { return library_.path(); }
  Env* env() const { return env_; }
  const MemoryInfo* cpu_memory() const { return cpu_memory_; }
  Allocator* allocator() const { return allocator_; }
  std::vector<std::string> providers() const;
  // Devices of the providers in a library that brings some to ONNX Runtime, which is loaded when it is first asked for.
  // Error (usage, backend, unsupported): there is no such file, it cannot be loaded, or it has nothing for this
  // machine.
  std::vector<const EpDevice*> plugin_devices(const std::string& path) const;
  std::string provider_of(const EpDevice* device) const;

  // Calls an entry; a failure becomes an Error (unsupported or backend) with the library's message on one line.
  template <typename... Args>
  void call(Call<Args...> entry, std::type_identity_t<Args>... args) const {
    const FloatModeGuard guard;
    if (Status* status = function<Status*(Args...)>(entry.place)(args...)) fail_with(status);
  }
  template <typename T>
  Owned<T> own(T* object) const {
    return Owned<T>(object, {function<void(T*)>(kRelease<T>)});
  }

 private:
  void check_version();
  [[noreturn]] void fail_with(Status* status) const;
  std::vector<const EpDevice*> devices() const;
  std::vector<const EpDevice*> load_plugin(const std::string& path) const;
  template <typename Function>
  Function* function(size_t place) const {
    return reinterpret_cast<Function*>(const_cast<void*>(table_[place]));
  }

  SharedLibrary library_;
  std::string version_;
  int minor_version_ = 0;
  const void* const* table_ = nullptr;
  Env* env_ = nullptr;
  MemoryInfo* cpu_memory_ = nullptr;
  Allocator* allocator_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::vector<const EpDevice*>> plugins_;  // by the paths of their files
};

// The library's message, without the places in its sources and on one line.
std::string plain_message(std::string_view message);
// The name of the node that a message is about; empty if it names none.
std::string node_in_message(std::string_view message);
// The operator that a message says the library does not know, as `domain:Op` or `Op`; empty: it says nothing like it.
std::string unregistered_op(std::string_view message);

}  // namespace assay::backends::ort
