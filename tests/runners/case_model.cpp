#include "runners/case_model.h"

#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "ir/edit.h"
#include "onnx/text.h"
#include "schema/schema.h"

namespace assay::cases {
namespace {

constexpr int kIrVersion = 10;
constexpr int64_t kCompanionVersion = 21;  // of ONNX's own operators beside a node of another domain

std::string header_text(std::string_view domain, int64_t version) {
  const int64_t main_version = domain.empty() ? version : kCompanionVersion;
  std::string opsets = fmt::format("\"\" : {}", main_version);
  if (!domain.empty()) opsets += fmt::format(", \"{}\" : {}", domain, version);
  return fmt::format("<ir_version: {}, opset_import: [{}]> ", kIrVersion, opsets);
}

bool is_list_word(const std::string& word) { return word == "ints" || word == "floats" || word == "strings"; }

// Builds the model of one node: a text gives the inputs, the node and its attributes; operands, tensors and outputs are
// put in afterwards.
class NodeModel {
 public:
  explicit NodeModel(const CaseRun& run) : run_(run), item_(*run.item) {}

  ir::Model build() {
    const std::string source = text();
    Diagnostics findings;
    ir::Model model = with_frame([&] { return fmt::format("{}:{}", run_.scope.path.string(), item_.line); },
                                 [&] { return onnx::parse_text(source, findings); });
    ir::Edit edit(model);
    const ir::NodeId node = model[model.main_graph()].first;
    edit.set_operands(node, operands(model, edit));
    for (const CaseAttribute& attribute : item_.attributes) {
      if (attribute.tensor) edit.set_attribute(node, tensor_attribute(attribute, edit));
    }
    set_outputs(model, edit, node);
    return model;
  }

 private:
  std::string text() const {
    const Subject& subject = item_.subject;
    std::vector<std::string> inputs;
    for (const Input& input : item_.inputs) {
      if (input.name.empty() || input.is_constant) continue;
      inputs.push_back(fmt::format("{} \"{}\"", type_text(input.value, run_.scope), input.name));
    }
    std::vector<std::string> outputs;
    for (const Output& output : item_.outputs) outputs.push_back(fmt::format("\"{}\"", output.name));
    if (outputs.empty()) outputs.emplace_back("\"Y\"");  // of a case that must fail
    std::vector<std::string> attributes;
    for (const CaseAttribute& attribute : item_.attributes) {
      if (!attribute.tensor) attributes.push_back(attribute_text(attribute));
    }
    const std::string list = attributes.empty() ? "" : fmt::format(" <{}>", fmt::join(attributes, ", "));
    const std::string domain = subject.domain.empty() ? "" : subject.domain + ".";
    return fmt::format("{}\"case\" ({}) => () {{ {} = {}{}{} () }}", header_text(subject.domain, run_.version),
                       fmt::join(inputs, ", "), fmt::join(outputs, ", "), domain, subject.op, list);
  }

  std::string attribute_text(const CaseAttribute& attribute) const {
    if (!attribute.is_word) return fmt::format("{} = {}", attribute.name, attribute.text);
    if (is_list_word(attribute.text)) return fmt::format("{}: {} = []", attribute.name, attribute.text);
    const tensor::DType dtype = dtype_of(attribute.text, attribute.line, run_.scope);
    return fmt::format("{} = {}", attribute.name, static_cast<int>(dtype));
  }

  std::vector<ir::ValueId> operands(ir::Model& model, ir::Edit& edit) const {
    const ir::GraphId graph = model.main_graph();
    const std::vector<ir::ValueId> inputs = model[graph].inputs;
    std::vector<ir::ValueId> operands;
    size_t next = 0;
    for (const Input& input : item_.inputs) {
      if (input.name.empty()) {
        operands.emplace_back();
      } else if (input.is_constant) {
        operands.push_back(edit.add_initializer(graph, edit.intern(input.name), add_tensor(input.value, edit)));
      } else {
        operands.push_back(inputs.at(next++));
      }
    }
    return operands;
  }

  ir::TensorId add_tensor(const Literal& literal, ir::Edit& edit) const {
    if (literal.kind != Literal::Kind::tensor) run_.scope.fail_at(literal.line, "a constant must be a tensor");
    ir::TensorEntry entry;
    entry.tensor = make_value(literal, run_.scope).tensor();
    return edit.add_tensor(std::move(entry));
  }

  ir::Attribute tensor_attribute(const CaseAttribute& attribute, ir::Edit& edit) const {
    return ir::Attribute::of(edit.intern(attribute.name), ir::AttributeType::tensor,
                             add_tensor(*attribute.tensor, edit));
  }

  void set_outputs(ir::Model& model, ir::Edit& edit, ir::NodeId node) const {
    std::vector<ir::ValueId> outputs;
    for (size_t i = 0; i < model[node].results.size(); ++i) {
      const ir::ValueId result = model[node].results[i];
      if (!result) continue;
      outputs.push_back(result);
      if (i < item_.outputs.size()) set_type(model, edit, result, item_.outputs[i]);
    }
    edit.set_outputs(model.main_graph(), outputs);
  }

  void set_type(ir::Model& model, ir::Edit& edit, ir::ValueId value, const Output& output) const {
    if (output.dtype.empty()) return;
    std::vector<ir::DimId> dims;
    for (const int64_t dim : output.dims) dims.push_back(model.dims().constant(dim));
    const tensor::DType dtype = dtype_of(output.dtype, output.line, run_.scope);
    edit.set_type(value, model.types().tensor(dtype, std::move(dims)));
  }

  const CaseRun& run_;
  const Case& item_;
};

ir::Model parse_model(const CaseRun& run) {
  const std::string& text = run.item->subject.model_text;
  const bool has_header = text.find_first_not_of(" \t\r\n") == text.find('<');
  Diagnostics findings;
  return with_frame([&] { return fmt::format("{}:{}", run.scope.path.string(), run.item->subject.line); },
                    [&] {
                      return onnx::parse_text(
                          has_header ? text : header_text("", schema::newest_version("").value_or(1)) + text, findings);
                    });
}

std::string run_name(const Case& item, const Scope& scope, int64_t version) {
  std::vector<std::string> words;
  for (const Variable& variable : item.variables) words.push_back(scope.words.at(variable.name));
  std::string name = item.name;
  if (!words.empty()) name += fmt::format(":{}", fmt::join(words, ","));
  if (version != 0) name += fmt::format("@{}", version);
  return name;
}

std::vector<Scope> scopes_of(const CaseFile& file, const Case& item) {
  std::vector<Scope> scopes = {Scope{file.path, {}}};
  for (const Variable& variable : item.variables) {
    std::vector<Scope> longer;
    for (const Scope& scope : scopes) {
      for (const std::string& word : variable.words) longer.emplace_back(scope).words[variable.name] = word;
    }
    scopes = std::move(longer);
  }
  return scopes;
}

}  // namespace

std::vector<CaseRun> runs_of(const CaseFile& file, const Case& item) {
  const Subject& subject = item.subject;
  std::set<int64_t> versions = {0};
  if (subject.model_text.empty()) {
    versions = {subject.first_version,
                subject.last_version == 0
                    ? std::max(subject.first_version, schema::newest_version(subject.domain).value_or(1))
                    : subject.last_version};
  }
  std::vector<CaseRun> runs;
  for (const Scope& scope : scopes_of(file, item)) {
    for (const int64_t version : versions) runs.push_back({&item, scope, version, run_name(item, scope, version)});
  }
  return runs;
}

BuiltCase build(const CaseRun& run) {
  BuiltCase built{run.item->subject.model_text.empty() ? NodeModel(run).build() : parse_model(run), {}};
  for (const Input& input : run.item->inputs) {
    if (input.name.empty() || input.is_constant) continue;
    built.feeds.push_back({input.name, make_value(input.value, run.scope)});
  }
  return built;
}

const Expected* expected_of(const CaseRun& run, const Output& output) {
  for (const Expected& expected : output.expected) {
    if (output.variable.empty() || expected.key == run.scope.words.at(output.variable)) return &expected;
  }
  return nullptr;
}

}  // namespace assay::cases
