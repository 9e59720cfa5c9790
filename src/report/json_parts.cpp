#include "report/json_parts.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "formats/json/field_writer.h"
#include "tensor/casts.h"

namespace assay::report {
namespace {

constexpr uint64_t kTile = 4096;

template <typename T>
void write_tiles(JsonWriter& json, const tensor::Tensor& tensor) {
  const tensor::Bytes bytes = tensor.bytes();
  std::array<T, kTile> tile;
  for (uint64_t at = 0; at < tensor.count(); at += kTile) {
    const std::span<T> part(tile.data(), std::min(kTile, tensor.count() - at));
    tensor::load(tensor.dtype(), bytes, at, part);
    for (const T element : part) json.value(element);
  }
}

void write_loaded(JsonWriter& json, const tensor::Tensor& tensor) {
  switch (tensor::kind(tensor.dtype())) {
    case tensor::DTypeKind::floating:
      return write_tiles<double>(json, tensor);
    case tensor::DTypeKind::signed_integer:
      return write_tiles<int64_t>(json, tensor);
    case tensor::DTypeKind::unsigned_integer:
    case tensor::DTypeKind::boolean:
      return write_tiles<uint64_t>(json, tensor);
    case tensor::DTypeKind::string:
      for (const std::string& text : tensor.strings()) json.value(text);
      return;
    case tensor::DTypeKind::complex:
    case tensor::DTypeKind::none:
      return;
  }
}

}  // namespace

JsonReport::JsonReport(std::string_view command) {
  json.begin_object();
  json.field("schema", formats::schema_of(command));
}

std::string JsonReport::end(const Timings& timings) {
  json.key("timings");
  write_timings(json, timings);
  json.end_object();
  return json.text();
}

std::string failure_json(std::string_view command, std::string_view model, std::string_view line, int exit_status) {
  JsonReport out(command);
  if (!model.empty()) out.json.field("model", model);
  out.json.field("error", line);
  out.json.field("exit_status", exit_status);
  return out.end(Timings());
}

std::string models_json(std::string_view command, const std::vector<std::string>& reports, int exit_status,
                        double seconds) {
  JsonReport out(command);
  out.json.field("exit_status", exit_status);
  write_list(out.json, "models", reports, [](JsonWriter& json, const std::string& report) { json.document(report); });
  return out.end({{"total_seconds", seconds}});
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key);
  json.begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

void write_elements(JsonWriter& json, const tensor::Tensor& tensor) {
  const std::variant<std::monostate, Error> readable = attempt([&] {
    static_cast<void>(tensor.bytes());
    return std::monostate{};
  });
  if (const Error* error = std::get_if<Error>(&readable)) return json.value(error->line());
  json.begin_array();
  write_loaded(json, tensor);
  json.end_array();
}

void write_timings(JsonWriter& json, const Timings& timings) {
  json.begin_object();
  for (const auto& [name, seconds] : timings) json.field(name, seconds);
  json.end_object();
}

}  // namespace assay::report
