#include "backends/openvino/ov_compile.h"

#include <algorithm>
#include <array>

#include "base/parallel.h"
#include "base/temporary_folder.h"
#include "base/text.h"

namespace assay::backends::ov {
namespace fs = std::filesystem;

namespace {

std::string find_device(const Library& library, const std::string& wish) {
  if (wish.empty()) return "CPU";
  const std::vector<std::string> devices = library.devices();
  const std::string letters = to_lower(wish);
  for (const std::string& device : devices) {
    if (to_lower(device).find(letters) != std::string::npos) return device;
  }
  fail(ErrorCode::usage, "openvino has no device `{}`; available: {}", printable(wish), join(devices, ", "));
}

// Empty: f32, whatever the device prefers to compute in.
std::string execution_mode(const std::string& wish) {
  if (!wish.empty() && std::ranges::find(kModes, wish) == kModes.end()) {
    fail(ErrorCode::usage, "unknown execution mode `{}` of OpenVINO; expected one of {}", printable(wish),
         join(std::vector<std::string>(kModes.begin(), kModes.end()), ", "));
  }
  return wish;
}

Owned<Model> read_file(const Library& library, const fs::path& path) {
  Model* made = nullptr;
  library.check(library.api().ov_core_read_model(library.core(), path.c_str(), nullptr, &made), ErrorCode::unsupported);
  return {made, library.api().ov_model_free};
}

Owned<CompiledModel> compile_read(const Library& library, const Model& model, const exec::SessionOptions& options) {
  const std::string device = find_device(library, options.settings.text(kDevice));
  const std::string mode = execution_mode(options.settings.text(kMode));
  const bool is_cpu = device.starts_with("CPU");
  const std::string threads = fmt::format("{}", options.threads == 0 ? thread_count() : options.threads);
  const char* const precision = mode.empty() ? "INFERENCE_PRECISION_HINT" : "EXECUTION_MODE_HINT";
  const char* const precision_value = mode.empty() ? "f32" : mode.c_str();
  constexpr size_t kWords = 8;  // keys and values; what only the CPU knows stands last
  CompiledModel* made = nullptr;
  library.check(
      library.api().ov_core_compile_model(library.core(), &model, device.c_str(), is_cpu ? kWords : kWords - 2, &made,
                                          precision, precision_value, "PERFORMANCE_HINT", "LATENCY", "PERF_COUNT",
                                          options.profiles ? "YES" : "NO", "INFERENCE_NUM_THREADS", threads.c_str()),
      ErrorCode::unsupported);
  return {made, library.api().ov_compiled_model_free};
}

class Maker {
 public:
  Maker(const Library& library, const ir::Model& model, const exec::SessionOptions& options)
      : library_(library), api_(library.api()), model_(model), options_(options) {}

  Owned<CompiledModel> make(const onnx::Additions& additions) const {
    return compile_read(library_, *read(additions), options_);
  }

 private:
  Owned<Model> read(const onnx::Additions& additions) const {
    const bool is_as_in_file = !options_.path.empty() && options_.path != "-" && model_.source() &&
                               !model_.is_edited() && additions.outputs.empty();
    if (is_as_in_file) return read_file(library_, options_.path);
    try {
      return read_bytes(onnx::encode(model_, {.detach_above_bytes = {}, .additions = additions}).bytes);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::limit) throw;
    }
    const TemporaryFolder folder;
    onnx::SaveOptions save;
    save.additions = additions;
    onnx::save(model_, folder.path() / "model.onnx", save);
    return read_file(library_, folder.path() / "model.onnx");
  }

  Owned<Model> read_bytes(const std::vector<std::byte>& bytes) const {
    const char* const text = reinterpret_cast<const char*>(bytes.data());
    Model* made = nullptr;
    library_.check(api_.ov_core_read_model_from_memory_buffer(library_.core(), text, bytes.size(), nullptr, &made),
                   ErrorCode::unsupported);
    return {made, api_.ov_model_free};
  }

  const Library& library_;
  const Api& api_;
  const ir::Model& model_;
  const exec::SessionOptions& options_;
};

}  // namespace

Owned<CompiledModel> compile(const Library& library, const ir::Model& model, const exec::SessionOptions& options,
                             const onnx::Additions& additions) {
  return Maker(library, model, options).make(additions);
}

Owned<CompiledModel> compile_file(const Library& library, const fs::path& path, const exec::SessionOptions& options) {
  return compile_read(library, *read_file(library, path), options);
}

}  // namespace assay::backends::ov
