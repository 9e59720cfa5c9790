// Serves tests/interop/schemas_test.py: prints what the schema table says as JSON, one document a line.
//   schema_tool            every operator version, in the table's order
//   schema_tool releases   the releases and the newest versions
#include <cstdio>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "schema/schema.h"

namespace {

using namespace assay;
using namespace assay::schema;

void write(JsonWriter& out, std::monostate) { out.null(); }
void write(JsonWriter& out, int64_t number) { out.value(number); }
void write(JsonWriter& out, float number) { out.value(static_cast<double>(number)); }
void write(JsonWriter& out, std::string_view text) { out.value(text); }
void write(JsonWriter& out, const ArgumentSchema& argument);
void write(JsonWriter& out, const AttributeSchema& attribute);
template <typename T>
void write(JsonWriter& out, const std::vector<T>& items) {
  out.begin_array();
  for (const T& item : items) write(out, item);
  out.end_array();
}

std::vector<std::string> type_names(const TypeSet& types) {
  std::vector<std::string> names(types.other.begin(), types.other.end());
  for (int32_t number = 1; tensor::is_known(tensor::DType{number}); ++number) {
    const tensor::DType dtype{number};
    const std::string tensor = fmt::format("tensor({})", tensor::onnx_name(dtype));
    if (types.tensors & set_of(dtype)) names.push_back(tensor);
    if (types.sequences & set_of(dtype)) names.push_back(fmt::format("seq({})", tensor));
    if (types.optional_tensors & set_of(dtype)) names.push_back(fmt::format("optional({})", tensor));
    if (types.optional_sequences & set_of(dtype)) names.push_back(fmt::format("optional(seq({}))", tensor));
  }
  return names;
}

void write(JsonWriter& out, const ArgumentSchema& argument) {
  static constexpr std::string_view kOptions[] = {"single", "optional", "variadic"};
  out.begin_object();
  out.field("name", argument.name);
  out.field("variable", argument.variable);
  out.field("option", kOptions[static_cast<size_t>(argument.option)]);
  out.field("min_arity", static_cast<int64_t>(argument.min_arity));
  out.field("homogeneous", argument.homogeneous);
  out.key("types");
  out.begin_array();
  for (const std::string& name : type_names(argument.types)) out.value(name);
  out.end_array();
  out.end_object();
}

void write(JsonWriter& out, const AttributeSchema& attribute) {
  out.begin_object();
  out.field("name", attribute.name);
  out.field("type", static_cast<int64_t>(attribute.type));
  out.field("required", attribute.required);
  out.key("default");
  std::visit([&](const auto& value) { write(out, value); }, attribute.value);
  out.end_object();
}

void write(JsonWriter& out, const Schema& schema) {
  out.begin_object();
  out.field("domain", schema.domain);
  out.field("name", schema.name);
  out.field("since", schema.since);
  out.field("deprecated", schema.deprecated);
  out.field("deterministic", schema.deterministic);
  out.field("has_body", schema.has_body);
  out.key("arity");
  write(out, std::vector<int64_t>{schema.min_inputs, schema.max_inputs, schema.min_outputs, schema.max_outputs});
  out.key("inputs");
  write(out, schema.inputs);
  out.key("outputs");
  write(out, schema.outputs);
  out.key("attributes");
  write(out, schema.attributes);
  out.end_object();
}

// As one line: the writer puts line breaks only between items.
void print_line(const JsonWriter& out) {
  std::string text = out.text();
  std::erase(text, '\n');
  fmt::print("{}\n", text);
}

void print_schemas() {
  for (const OperatorName& op : operator_names()) {
    for (const Schema* schema : schema_versions(op.domain, op.name)) {
      JsonWriter out;
      write(out, *schema);
      print_line(out);
    }
  }
}

void print_releases() {
  JsonWriter out;
  out.begin_object();
  out.field("ir", newest_ir_version());
  for (const std::string_view domain : {"", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training"}) {
    out.field(fmt::format("domain {}", domain), newest_version(domain).value_or(0));
  }
  for (const Release& release : releases()) {
    out.key(release.name);
    write(out, std::vector<int64_t>{release.ir, release.opset, release.ml, release.training});
  }
  out.end_object();
  print_line(out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "releases") {
    print_releases();
  } else {
    print_schemas();
  }
  return 0;
}
