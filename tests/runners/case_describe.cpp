#include "runners/case_describe.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "onnx/export.h"
#include "runners/case_model.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;
using tensor::Datum;

bool is_unfilled(const Case& item) {
  return std::any_of(item.outputs.begin(), item.outputs.end(), [](const Output& output) { return output.is_unfilled; });
}

std::string hex(tensor::Bytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

void write_tensor(const tensor::Tensor& tensor, JsonWriter& json) {
  json.begin_object();
  json.field("dtype", static_cast<int>(tensor.dtype()));
  json.key("dims");
  json.begin_array();
  for (const int64_t dim : tensor.shape()) json.value(dim);
  json.end_array();
  if (tensor.dtype() == tensor::DType::string) {
    json.key("strings");
    json.begin_array();
    for (const std::string& text : tensor.strings()) json.value(text);
    json.end_array();
  } else {
    json.field("hex", hex(tensor.bytes()));
  }
  json.end_object();
}

// A tensor is an object, a sequence a list, nothing is null, a map a list of its keys and its values under `map`.
void write_value(const Datum& value, JsonWriter& json) {
  switch (value.kind()) {
    case Datum::Kind::none:
      return json.null();
    case Datum::Kind::tensor:
      return write_tensor(value.tensor(), json);
    case Datum::Kind::sequence:
      json.begin_array();
      for (const Datum& item : value.items()) write_value(item, json);
      return json.end_array();
    case Datum::Kind::map:
      json.begin_object();
      json.key("map");
      json.begin_array();
      write_tensor(value.keys(), json);
      write_tensor(value.values(), json);
      json.end_array();
      return json.end_object();
  }
}

void write_output(const Output& output, const CaseRun& run, JsonWriter& json) {
  json.begin_object();
  json.field("name", output.name);
  json.field("unfilled", output.is_unfilled);
  json.field("begin", static_cast<uint64_t>(output.begin));
  json.field("end", static_cast<uint64_t>(output.end));
  if (!output.dtype.empty()) {
    json.field("dtype", static_cast<int>(dtype_of(output.dtype, output.line, run.scope)));
    json.field("type", output.dtype);
  }
  json.end_object();
}

void write_run(const CaseRun& run, const fs::path& model_path, JsonWriter& json) {
  const BuiltCase built = build(run);
  onnx::save(built.model, model_path);
  json.begin_object();
  json.field("name", run.name);
  json.field("line", run.item->line);
  json.field("version", run.version);
  json.field("model", model_path.string());
  json.key("variables");
  json.begin_object();
  for (const auto& [variable, word] : run.scope.words) json.field(variable, word);
  json.end_object();
  json.key("inputs");
  json.begin_object();
  for (const exec::Feed& feed : built.feeds) {
    json.key(feed.name);
    write_value(feed.value, json);
  }
  json.end_object();
  json.key("outputs");
  json.begin_array();
  for (const Output& output : run.item->outputs) {
    if (!output.name.empty()) write_output(output, run, json);
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string describe_unfilled(const CaseFile& file, const fs::path& folder) {
  size_t number = static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  JsonWriter json;
  json.begin_array();
  for (const Case& item : file.cases) {
    if (!is_unfilled(item)) continue;
    for (const CaseRun& run : runs_of(file, item)) write_run(run, folder / fmt::format("{}.onnx", number++), json);
  }
  json.end_array();
  return json.text();
}

}  // namespace assay::cases
