#include "tasks/bench/value_files.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "formats/numpy/npy.h"
#include "tensor/array_text.h"
#include "tensor/convert.h"
#include "tensor/elements.h"

namespace assay::tasks {
namespace {

constexpr std::array<std::string_view, 4> kFormats = {"summary", "numpy", "string", "raw"};

std::string safe_name(std::string_view name) {
  std::string safe;
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    safe += is_plain || c == '_' || c == '.' ? c : '_';
  }
  return safe;
}

std::string dims_text(const tensor::Tensor& tensor) {
  return tensor.shape().empty() ? "scalar" : fmt::format("{}", fmt::join(tensor.shape(), "."));
}

void write(const std::string& path, std::string_view text, Observer& observer) {
  observer.info("Saving " + printable(path));
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void save_raw(const std::string& path, const tensor::Tensor& tensor, Observer& observer) {
  observer.info("Saving " + printable(path));
  OutputFile file(path);
  file.write(tensor.bytes());
  file.commit();
}

void save_binding(const tensor::NamedDatum& value, std::string_view side, Observer& observer) {
  if (!value.value.is_tensor() || value.value.tensor().dtype() == tensor::DType::string) {
    return observer.warning(
        fmt::format("`{}` has no elements of a fixed size: it is not written", printable(value.name)));
  }
  const tensor::Tensor& tensor = value.value.tensor();
  save_raw(fmt::format("{}.{}.{}.{}.raw", safe_name(value.name), side, dims_text(tensor), tensor::name(tensor.dtype())),
           tensor, observer);
}

// Numbers of a type that NumPy has.
tensor::Tensor for_numpy(const tensor::Tensor& tensor) {
  if (!formats::npy_descr(tensor.dtype()).empty()) return tensor;
  return tensor::converted(tensor, tensor::DType::float32);
}

std::string save_numpy(const std::string& stem, const tensor::Tensor& tensor, Observer& observer) {
  const tensor::Tensor shown = for_numpy(tensor);
  const std::string path = stem + (shown.dtype() == tensor.dtype() ? ".npy" : "_to_float.npy");
  const formats::NpyImage image(shown);
  observer.info("Saving " + printable(path));
  OutputFile file(path);
  file.write(image.header());
  file.write(image.elements());
  file.commit();
  return path;
}

// The first and the last elements, with the range and the mean of all.
void write_statistics(JsonWriter& json, const tensor::Tensor& tensor) {
  constexpr size_t kShown = 5;
  const std::vector<double> elements = tensor::load_elements<double>(tensor);
  json.key("statistics");
  json.begin_object();
  if (!elements.empty()) {
    double sum = 0;
    for (const double x : elements) sum += x;
    json.field("min", *std::ranges::min_element(elements));
    json.field("max", *std::ranges::max_element(elements));
    json.field("avg", sum / static_cast<double>(elements.size()));
  }
  json.key("elements");
  json.begin_array();
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i < kShown || i + kShown >= elements.size()) json.value(elements[i]);
  }
  json.end_array();
  json.end_object();
}

using Files = std::map<std::string, std::string>;  // by format

void write_summary_entry(JsonWriter& json, const tensor::NamedDatum& value, const Files& files) {
  const tensor::Tensor& tensor = value.value.tensor();
  json.begin_object();
  json.field("name", value.name);
  json.field("shape", fmt::format("{}", fmt::join(tensor.shape(), "x")));
  json.field("type", tensor::name(tensor.dtype()));
  write_statistics(json, tensor);
  json.key("files");
  json.begin_object();
  for (const auto& [format, path] : files) json.field(format, path);
  json.end_object();
  json.end_object();
}

Files save_value(const tensor::NamedDatum& value, size_t number, const std::vector<std::string>& formats,
                 Observer& observer) {
  Files files;
  const tensor::Tensor& tensor = value.value.tensor();
  const std::string stem = fmt::format("{:04}_{}", number, safe_name(value.name));
  for (const std::string& format : formats) {
    if (format == "numpy") files[format] = save_numpy(stem, tensor, observer);
    if (format == "raw") save_raw(files[format] = stem + ".raw", tensor, observer);
    if (format == "string") write(files[format] = stem + ".txt", tensor::array_text(tensor) + "\n", observer);
  }
  return files;
}

}  // namespace

void save_bindings(const tensor::NamedData& inputs, const tensor::NamedData& outputs, Observer& observer) {
  for (const tensor::NamedDatum& input : inputs) save_binding(input, "input", observer);
  for (const tensor::NamedDatum& output : outputs) save_binding(output, "output", observer);
}

std::vector<std::string_view> value_formats() { return {kFormats.begin(), kFormats.end()}; }

void save_values(const tensor::NamedData& values, const std::vector<std::string>& formats, const std::string& model,
                 const std::string& command, Observer& observer) {
  for (const std::string& format : formats) {
    if (std::ranges::find(kFormats, format) != kFormats.end()) continue;
    fail(ErrorCode::usage, "there is no format `{}` of values; expected some of {}", printable(format),
         fmt::join(kFormats, ", "));
  }
  JsonWriter json;
  json.begin_object();
  json.key("metadata");
  json.begin_object();
  json.field("title", "values between layers");
  json.field("engine_name", model);
  json.field("command_line", command);
  json.end_object();
  json.key("tensors");
  json.begin_array();
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].value.is_tensor() || values[i].value.tensor().dtype() == tensor::DType::string) continue;
    write_summary_entry(json, values[i], save_value(values[i], i, formats, observer));
  }
  json.end_array();
  json.end_object();
  if (std::ranges::find(formats, "summary") != formats.end()) write("tensor_summary.json", json.text(), observer);
}

}  // namespace assay::tasks
