#include <algorithm>
#include <iterator>

#include "backends/onnxrt/ort_library.h"
#include "base/error.h"
#include "base/foreign_code.h"
#include "base/paths.h"
#include "base/text.h"

namespace assay::backends::ort {

std::vector<const EpDevice*> Library::devices() const {
  const EpDevice* const* first = nullptr;
  size_t count = 0;
  call(kGetEpDevices, env_, &first, &count);
  return {first, first + count};
}

std::string Library::provider_of(const EpDevice* device) const {
  return function<const char*(const EpDevice*)>(kGetDeviceProvider)(device);
}

std::vector<const EpDevice*> Library::plugin_devices(const std::string& path) const {
  if (minor_version_ < kFirstWithPlugins) {
    fail(ErrorCode::unsupported, "onnxrt: ONNX Runtime {} takes no providers from libraries of their own, 1.{} does",
         version_, kFirstWithPlugins);
  }
  const std::string file = absolute_path(path).lexically_normal().string();
  if (!is_file(file)) {
    throw Error(ErrorCode::usage, fmt::format("onnxrt: there is no library `{}`", printable(path))).about("ep");
  }
  const std::scoped_lock lock(mutex_);
  const auto known = plugins_.find(file);
  if (known != plugins_.end()) return known->second;
  return plugins_.emplace(file, load_plugin(file)).first->second;
}

std::vector<const EpDevice*> Library::load_plugin(const std::string& path) const {
  const std::vector<const EpDevice*> before = devices();
  const std::string shown = printable(path);
  with_frame([&] { return fmt::format("the library `{}`", shown); },
             [&] {
               const SignalGuard guard;
               const ForeignCode code(path);
               call(kRegisterProviderLibrary, env_, path.c_str(), path.c_str());
             });
  std::vector<const EpDevice*> added;
  std::ranges::copy_if(devices(), std::back_inserter(added),
                       [&](const EpDevice* device) { return std::ranges::find(before, device) == before.end(); });
  if (added.empty()) {
    fail(ErrorCode::unsupported, "onnxrt: the library `{}` has no provider for a device of this machine", shown);
  }
  return added;
}

}  // namespace assay::backends::ort
