#include "backends/openvino/ov_library.h"

#include <array>
#include <charconv>

#include "base/text.h"
#include "exec/foreign_library.h"

namespace assay::backends::ov {
namespace {

constexpr int kLeastYear = 2025;

}  // namespace

const exec::LibraryKind& Library::kind() {
  static const exec::LibraryKind kind = {.variable = "ASSAY_OPENVINO",
                                         .wheel_files = {"openvino/libs/libopenvino_c.so*", "libs/libopenvino_c.so*"},
                                         .distribution = "openvino",
                                         .system_names = {"libopenvino_c.so", "libopenvino_c.so.[0-9]*"},
                                         .loader_name = "libopenvino_c.so",
                                         .title = "OpenVINO",
                                         .hint = "`pip install openvino` brings one"};
  return kind;
}

const Library& Library::get(const exec::LibrarySearch& search) { return exec::opened_library<Library>(kind(), search); }

Library::Library(SharedLibrary library) : library_(std::move(library)) {
  load_all();
  check_version();
  const SignalGuard guard;
  check(api_.ov_core_create(&core_));
  check_element_types();
}

template <typename Function>
void Library::load(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(library_.find(name));
  if (function != nullptr) return;
  const std::string shown = printable(library_.path().string());
  fail(ErrorCode::backend, "`{}` is not OpenVINO's C library, or too old: it has no `{}`", shown, name);
}

void Library::load_ports() {
  load(api_.ov_compiled_model_inputs_size, "ov_compiled_model_inputs_size");
  load(api_.ov_compiled_model_input_by_index, "ov_compiled_model_input_by_index");
  load(api_.ov_compiled_model_outputs_size, "ov_compiled_model_outputs_size");
  load(api_.ov_compiled_model_output_by_index, "ov_compiled_model_output_by_index");
  load(api_.ov_compiled_model_input_by_name, "ov_compiled_model_input_by_name");
  load(api_.ov_compiled_model_output_by_name, "ov_compiled_model_output_by_name");
  load(api_.ov_port_get_any_name, "ov_port_get_any_name");
  load(api_.ov_port_get_element_type, "ov_port_get_element_type");
  load(api_.ov_port_get_partial_shape, "ov_port_get_partial_shape");
  load(api_.ov_partial_shape_free, "ov_partial_shape_free");
  load(api_.ov_output_const_port_free, "ov_output_const_port_free");
}

void Library::load_all() {
  load(api_.ov_get_openvino_version, "ov_get_openvino_version");
  load(api_.ov_version_free, "ov_version_free");
  load(api_.ov_core_create, "ov_core_create");
  load(api_.ov_core_get_available_devices, "ov_core_get_available_devices");
  load(api_.ov_available_devices_free, "ov_available_devices_free");
  load(api_.ov_core_read_model, "ov_core_read_model");
  load(api_.ov_core_read_model_from_memory_buffer, "ov_core_read_model_from_memory_buffer");
  load(api_.ov_core_compile_model, "ov_core_compile_model");
  load(api_.ov_model_free, "ov_model_free");
  load_ports();
  load(api_.ov_free, "ov_free");
  load(api_.ov_compiled_model_create_infer_request, "ov_compiled_model_create_infer_request");
  load(api_.ov_compiled_model_free, "ov_compiled_model_free");
  load(api_.ov_infer_request_set_input_tensor_by_index, "ov_infer_request_set_input_tensor_by_index");
  load(api_.ov_infer_request_set_output_tensor_by_index, "ov_infer_request_set_output_tensor_by_index");
  load(api_.ov_infer_request_infer, "ov_infer_request_infer");
  load(api_.ov_infer_request_get_output_tensor_by_index, "ov_infer_request_get_output_tensor_by_index");
  load(api_.ov_infer_request_get_profiling_info, "ov_infer_request_get_profiling_info");
  load(api_.ov_profiling_info_list_free, "ov_profiling_info_list_free");
  load(api_.ov_infer_request_free, "ov_infer_request_free");
  load(api_.ov_tensor_create, "ov_tensor_create");
  load(api_.ov_tensor_create_from_host_ptr, "ov_tensor_create_from_host_ptr");
  load(api_.ov_tensor_get_shape, "ov_tensor_get_shape");
  load(api_.ov_tensor_get_element_type, "ov_tensor_get_element_type");
  load(api_.ov_tensor_get_byte_size, "ov_tensor_get_byte_size");
  load(api_.ov_tensor_data, "ov_tensor_data");
  load(api_.ov_tensor_free, "ov_tensor_free");
  load(api_.ov_shape_free, "ov_shape_free");
  load(api_.ov_get_error_info, "ov_get_error_info");
  load(api_.ov_get_last_err_msg, "ov_get_last_err_msg");
}

// A build is named as `2026.4.1-12345-abcdef`.
void Library::check_version() {
  Version version{};
  check(api_.ov_get_openvino_version(&version));
  const std::string build = version.build != nullptr ? printable(version.build) : "";
  api_.ov_version_free(&version);
  version_ = build.substr(0, build.find('-'));
  int year = 0;
  std::from_chars(version_.data(), version_.data() + version_.size(), year);
  if (year >= kLeastYear) return;
  fail(ErrorCode::backend, "`{}` is OpenVINO {}, expected {}.0 or newer", printable(library_.path().string()), build,
       kLeastYear);
}

// The numbers of element types have moved once; their sizes show whether they are where they are thought to be.
void Library::check_element_types() const {
  struct Size {
    ElementType type;
    size_t bytes;
  };
  using E = ElementType;
  constexpr std::array kSizes = {Size{E::boolean, 1}, Size{E::f16, 2}, Size{E::f32, 4}, Size{E::f64, 8},
                                 Size{E::i8, 1},      Size{E::i16, 2}, Size{E::i32, 4}, Size{E::i64, 8},
                                 Size{E::u8, 1},      Size{E::u16, 2}, Size{E::u32, 4}, Size{E::u64, 8}};
  int64_t dim = 1;
  for (const Size& size : kSizes) {
    OvTensor* made = nullptr;
    check(api_.ov_tensor_create(size.type, {1, &dim}, &made));
    const Owned<OvTensor> tensor(made, api_.ov_tensor_free);
    size_t bytes = 0;
    check(api_.ov_tensor_get_byte_size(tensor.get(), &bytes));
    if (bytes == size.bytes) continue;
    fail(ErrorCode::backend, "OpenVINO {} numbers element types in an unknown way", version_);
  }
}

std::vector<std::string> Library::devices() const {
  Devices devices{};
  check(api_.ov_core_get_available_devices(core_, &devices));
  std::vector<std::string> names(devices.names, devices.names + devices.count);
  api_.ov_available_devices_free(&devices);
  return names;
}

void Library::check(Status status, ErrorCode code) const {
  if (status == kOk) return;
  // Failures of the C interface itself leave the message of an earlier failure behind.
  const char* const message = status > kInvalidParameter ? api_.ov_get_last_err_msg() : nullptr;
  const std::string text = plain_message(message != nullptr ? message : "");
  if (status == kNotImplemented) code = ErrorCode::unsupported;
  throw Error(code, fmt::format("openvino: {}", text.empty() ? api_.ov_get_error_info(status) : text));
}

// A chain of lines `Exception from place:` and `Check 'x' failed at place:`; what matters stands behind them.
std::string plain_message(std::string_view message) {
  std::string result;
  for (const std::string_view line : split(message, '\n')) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) continue;
    const std::string_view text = line.substr(begin);
    const bool is_place = text.starts_with("Exception from ") || text.find(".cpp:") != std::string_view::npos;
    if (is_place || text.back() == ':') continue;
    if (!result.empty()) result += ' ';
    result += printable(text);
  }
  constexpr std::string_view kAdvertisement = " To facilitate the conversion";
  result = result.substr(0, result.find(kAdvertisement));
  return result.empty() ? printable(message) : result;
}

}  // namespace assay::backends::ov
