// Serves the interop tests of the model layer:
//   roundtrip IN OUT                        imports and saves
//   edit NAME IN OUT                        the same with one edit in between (see kEdits)
//   save-external IN OUT NAME THRESHOLD [each]
//   tensors IN                              name, dtype, dims and bytes (hex) of every initializer
//   findings IN                             the codes of the findings
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/edit.h"
#include "ir/verify.h"
#include "onnx/export.h"
#include "onnx/load.h"

namespace {

using namespace assay;

struct Editing {
  ir::Model& model;
  ir::Edit edit;

  const ir::Graph& main() const { return model[model.main_graph()]; }
  ir::Symbol name(std::string_view text) { return edit.intern(text); }
  ir::ValueId first_result() const { return model[main().first].results[0]; }
  ir::GraphId first_body() const {
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
      const std::vector<ir::GraphId> bodies = model.bodies(model[node]);
      if (!bodies.empty()) return bodies[0];
    }
    fail(ErrorCode::usage, "the model has no body");
  }
};

ir::TensorId add_floats(Editing& e, const std::vector<float>& values) {
  ir::TensorEntry entry;
  entry.tensor = tensor::make_tensor<float>(tensor::DType::float32, {static_cast<int64_t>(values.size())}, values);
  return e.edit.add_tensor(std::move(entry));
}

// An Identity behind the value, which takes over all its other uses.
void insert_identity(Editing& e, ir::GraphId graph, ir::ValueId value, std::string_view output) {
  ir::NodeSpec spec;
  spec.op = e.name("Identity");
  spec.name = "inserted";
  const ir::Symbol results[] = {e.name(output)};
  spec.results = results;
  const ir::NodeId before = e.model[value].producer ? e.model[e.model[value].producer].next : e.model[graph].first;
  const ir::NodeId made = e.edit.add_node(graph, spec, before);
  e.edit.replace_uses(value, e.model[made].results[0]);
  e.edit.set_operands(made, std::span<const ir::ValueId>(&value, 1));
}

void rename_first_node(Editing& e) { e.edit.rename(e.main().first, "renamed"); }
void rename_value(Editing& e) { e.edit.rename(e.first_result(), e.name("renamed")); }
void rename_input(Editing& e) { e.edit.rename(e.main().inputs[0], e.name("renamed")); }
void rename_initializer(Editing& e) { e.edit.rename(e.main().initializers[0], e.name("renamed")); }
void change_op(Editing& e) { e.edit.set_op(e.main().first, e.name("Abs")); }
void add_node(Editing& e) { insert_identity(e, e.model.main_graph(), e.first_result(), "inserted_out"); }
void change_attribute(Editing& e) {
  const ir::NodeId node = e.main().last;
  e.edit.set_attribute(node, ir::Attribute::of(e.name("axis"), int64_t{0}));
}
void remove_attribute(Editing& e) { e.edit.remove_attribute(e.main().last, e.name("axis")); }
void erase_last_node(Editing& e) {
  const ir::NodeId last = e.main().last;
  e.edit.replace_uses(e.model[last].results[0], e.model[last].operands[0].value);
  e.edit.erase(last);
}
void retype_value(Editing& e) {
  const ir::DimId dim = e.model.dims().symbol(e.name("N"));
  e.edit.set_type(e.first_result(), e.model.types().tensor(tensor::DType::float32, {dim, ir::kUnknownDim}));
}
void set_tensor(Editing& e) {
  const ir::Value& value = e.model[e.main().initializers[0]];
  const tensor::Tensor& old = e.model[value.constant].tensor;
  const std::vector<float> ones(old.count(), 1.0f);
  e.edit.set_tensor(value.constant, tensor::make_tensor<float>(tensor::DType::float32, old.shape(), ones));
}
void add_initializer(Editing& e) {
  e.edit.add_initializer(e.model.main_graph(), e.name("added"), add_floats(e, {1, 2, 3}));
}
void edit_in_body(Editing& e) { e.edit.rename(e.model[e.first_body()].first, "renamed"); }
void edit_in_function(Editing& e) { e.edit.rename(e.model[e.model.functions().at(0).body].first, "renamed"); }
void change_header(Editing& e) {
  ir::Header& header = e.edit.header();
  header.producer_name = "changed";
  header.model_version = 9;
  header.metadata.emplace_back("added", "value");
}
void change_output(Editing& e) {
  const ir::ValueId value = e.first_result();
  e.edit.set_outputs(e.model.main_graph(), {&value, 1});
}

struct NamedEdit {
  std::string_view name;
  void (*apply)(Editing&);
};

constexpr NamedEdit kEdits[] = {
    {"rename-first-node", rename_first_node},
    {"rename-value", rename_value},
    {"rename-input", rename_input},
    {"rename-initializer", rename_initializer},
    {"change-op", change_op},
    {"add-node", add_node},
    {"change-attribute", change_attribute},
    {"remove-attribute", remove_attribute},
    {"erase-last-node", erase_last_node},
    {"retype-value", retype_value},
    {"set-tensor", set_tensor},
    {"add-initializer", add_initializer},
    {"edit-in-body", edit_in_body},
    {"edit-in-function", edit_in_function},
    {"change-header", change_header},
    {"change-output", change_output},
};

ir::Model load(const std::string& path) {
  Diagnostics findings;
  ir::Model model = onnx::load(path, {}, findings);
  ir::check_structure(model);
  return model;
}

void edit_file(std::string_view name, const std::string& in, const std::string& out) {
  ir::Model model = load(in);
  Editing editing{model, ir::Edit(model)};
  const auto* found =
      std::find_if(std::begin(kEdits), std::end(kEdits), [&](const NamedEdit& e) { return e.name == name; });
  if (found == std::end(kEdits)) fail(ErrorCode::usage, "no edit is named `{}`", name);
  found->apply(editing);
  ir::check_structure(model);
  onnx::save(model, out);
}

void save_external(const std::vector<std::string>& words) {
  onnx::SaveOptions options;
  options.external_name = words[3];
  options.threshold = std::stoull(words[4]);
  options.one_file = words.size() == 5;
  const onnx::SaveReport report = onnx::save(load(words[1]), words[2], options);
  fmt::print("{} {}\n", report.external_name, report.external_bytes);
}

std::string hex(const tensor::Tensor& tensor) {
  std::string text;
  if (tensor.dtype() == tensor::DType::string) {
    for (const std::string& item : tensor.strings()) text += item + ',';
    return text;
  }
  for (const std::byte byte : tensor.bytes()) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

void print_tensors(const ir::Model& model) {
  for (const ir::ValueId id : model[model.main_graph()].initializers) {
    const tensor::Tensor& tensor = model[model[id].constant].tensor;
    fmt::print("{}\t{}\t{}\t{}\n", model.text(model[id].name), static_cast<int>(tensor.dtype()),
               fmt::join(tensor.shape(), ","), hex(tensor));
  }
}

void print_findings(const std::string& path) {
  Diagnostics findings;
  onnx::load(path, {}, findings);
  for (const Diagnostic& finding : findings.all()) fmt::print("{}\n", finding.code);
}

void run(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == "roundtrip") return static_cast<void>(onnx::save(load(words[1]), words[2]));
  if (words.size() == 4 && words[0] == "edit") return edit_file(words[1], words[2], words[3]);
  if (words.size() >= 5 && words[0] == "save-external") return save_external(words);
  if (words.size() == 2 && words[0] == "tensors") return print_tensors(load(words[1]));
  if (words.size() == 2 && words[0] == "findings") return print_findings(words[1]);
  fail(ErrorCode::usage, "wrong words");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv + 1, argv + argc});
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.line());
    return exit_status(error.code());
  }
  return 0;
}
