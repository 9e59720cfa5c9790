#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/openvino/ov_api.h"
#include "base/error.h"
#include "base/shared_library.h"
#include "exec/library_search.h"

namespace assay::backends::ov {

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

// OpenVINO, opened and checked. There is one for each file, made on first use, and it lives as long as the process.
class Library {
 public:
  // Takes over what was opened; get() makes the only one of a file.
  explicit Library(SharedLibrary library);
  static const exec::LibraryKind& kind();
  // Error (backend) if there is none, or it is not what it should be.
  static const Library& get(const exec::LibrarySearch& search);

  const std::string& version() const { return version_; }
  const std::filesystem::path& path() const { return library_.path(); }
  const Api& api() const { return api_; }
  const Core* core() const { return core_; }
  std::vector<std::string> devices() const;

  // Turns a failure into an Error with the library's message on one line; `code` where it does not say more.
  void check(Status status, ErrorCode code = ErrorCode::backend) const;

 private:
  template <typename Function>
  void load(Function*& function, const char* name);
  void load_all();
  void load_ports();
  void check_version();
  void check_element_types() const;

  SharedLibrary library_;
  std::string version_;
  Api api_{};
  Core* core_ = nullptr;
};

// The library's message, without the places in its sources and on one line.
std::string plain_message(std::string_view message);

}  // namespace assay::backends::ov
