// Prints what inference finds, for the interop tests: one JSON object for each model, on a line of its own. Requests
// are the arguments or, without any, the lines of standard input:
//   MODEL [INPUT=DIMS ...]      fields separated by tabs; DIMS as `2,batch,?` fixes the shape of an input
// The object has `values`, of the main graph: name, kind (input, initializer, result), type (the whole, as text),
// dtype, dims (numbers, texts, "?"; null without a rank), constant; and `findings`: node, code, message. A model that
// cannot be read gives `error CODE: text`.
#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/json.h"
#include "ir/edit.h"
#include "onnx/load.h"
#include "ops/inference.h"
#include "support/tool_lines.h"

namespace {

using namespace assay;

ir::ValueId find_input(const ir::Model& model, std::string_view name) {
  for (const ir::ValueId id : model[model.main_graph()].inputs) {
    if (model.text(model[id].name) == name) return id;
  }
  fail(ErrorCode::usage, "the model has no input `{}`", printable(name));
}

ir::DimId parse_dim(std::string_view text, ir::Model& model, ir::Edit& edit) {
  if (text == "?") return ir::kUnknownDim;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? model.dims().constant(number) : model.dims().symbol(edit.intern(text));
}

void set_input(ir::Model& model, std::string_view setting) {
  const size_t at = setting.rfind('=');
  if (at == std::string_view::npos) fail(ErrorCode::usage, "expected INPUT=DIMS, not `{}`", printable(setting));
  const ir::ValueId input = find_input(model, setting.substr(0, at));
  const std::string_view list = setting.substr(at + 1);
  ir::Edit edit(model);
  std::vector<ir::DimId> dims;
  for (const std::string_view word : split(list, ',')) {
    if (!list.empty()) dims.push_back(parse_dim(word, model, edit));
  }
  const ir::TypeId declared = model[input].type;
  if (!declared.valid()) fail(ErrorCode::usage, "the input has no type");
  edit.set_type(input, model.types().tensor(model[declared].dtype, dims));
}

void write_dims(JsonWriter& out, const ops::Type& type) {
  if (!type.is_tensor() || !type.dims) return out.null();
  out.begin_array();
  for (const ops::Dim& dim : *type.dims) {
    if (dim.is_number())
      out.value(*dim.number());
    else
      out.value(dim.text());
  }
  out.end_array();
}

void write_value(JsonWriter& out, const ir::Model& model, const ops::Inference& inference, ir::ValueId id) {
  static constexpr std::string_view kKinds[] = {"undefined", "input", "initializer", "result"};
  const ir::Value& value = model[id];
  const tensor::Tensor* constant = inference.constant(id);
  const ops::Type type =
      constant ? ops::Type::tensor(constant->dtype(), ops::dims_of(constant->shape())) : inference.type(id);
  out.begin_object();
  out.field("name", model.text(value.name));
  out.field("kind", kKinds[static_cast<size_t>(value.kind)]);
  out.field("type", type.text());
  out.key("dtype");
  type.is_tensor() ? out.value(tensor::name(type.dtype)) : out.null();
  out.key("dims");
  write_dims(out, type);
  out.field("constant", constant != nullptr);
  out.end_object();
}

void write_findings(JsonWriter& out, const ir::Model& model, const ops::Inference& inference) {
  out.begin_array();
  for (const ops::InferenceFinding& finding : inference.findings()) {
    out.begin_object();
    out.field("node", finding.node.valid() ? model[finding.node].name : std::string_view());
    out.field("code", finding.code);
    out.field("message", finding.message);
    out.end_object();
  }
  out.end_array();
}

std::string infer(std::string_view request) {
  const std::vector<std::string_view> words = split(request, '\t');
  Diagnostics findings;
  ir::Model model = onnx::load(words[0], {}, findings);
  for (size_t i = 1; i < words.size(); ++i) set_input(model, words[i]);
  ops::Inference inference(model);
  inference.run();
  JsonWriter out;
  out.begin_object();
  out.key("values");
  out.begin_array();
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    const ir::Value& value = model[ir::ValueId{i}];
    const bool is_shown = value.alive && value.graph == model.main_graph() && value.name != ir::kEmpty;
    if (is_shown) write_value(out, model, inference, ir::ValueId{i});
  }
  out.end_array();
  out.key("findings");
  write_findings(out, model, inference);
  out.end_object();
  return support::one_line(out.text());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) support::serve_lines(infer);
  for (int i = 1; i < argc; ++i) fmt::print("{}\n", support::answer_or_failure([&] { return infer(argv[i]); }));
}
