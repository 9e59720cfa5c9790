#include "tensorflow/import/importer.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ops/write_types.h"
#include "tensorflow/import/lists.h"
#include "tensorflow/import/makers.h"
#include "tensorflow/import/unknown.h"

namespace assay::tensorflow {
namespace {

using tensor::DType;

constexpr uint64_t kMostNodes = uint64_t{1} << 20;  // functions that call others twice grow without bounds
constexpr size_t kMostCalls = 100;

// Codes that QuantizeLinear takes from version 21 on.
bool has_wide_codes(const SourceGraph& graph) {
  return std::ranges::any_of(graph.values, [](const auto& each) {
    const SourceValue& value = each.second;
    const bool is_wide = tensor::is_integer(value.dtype) && value.dtype != DType::int8 && value.dtype != DType::uint8 &&
                         value.dtype != DType::int32;
    return is_wide && value.quantization.is_given();
  });
}

void write_header(const SourceModel& source, ir::Edit& edit) {
  const bool is_new = has_wide_codes(source.main) || std::ranges::any_of(source.functions, [](const auto& each) {
                        return has_wide_codes(each.second);
                      });
  ir::Header& header = edit.header();
  header.ir_version = is_new ? 10 : 9;
  header.producer_name = source.producer;
  header.opset_imports = {{ir::kEmpty, is_new ? 21 : 20}};
}

ir::TypeId input_type(ir::Model& model, const SourcePort& port, const SourceValue& value) {
  if (value.dtype == DType::undefined || value.dtype == DType::string) {
    fail(ErrorCode::unsupported, "the input `{}` is of a type that is not imported, as strings are",
         printable(port.name));
  }
  if (!value.dims) return model.types().unranked_tensor(value.dtype);
  std::vector<ir::DimId> dims;
  for (const int64_t dim : *value.dims) {
    const std::string name = fmt::format("{}_{}", port.name, dims.size());
    dims.push_back(dim < 0 ? model.dims().symbol(model.symbols().intern(name)) : model.dims().constant(dim));
  }
  return model.types().tensor(value.dtype, std::move(dims));
}

std::set<std::string> values_needed_for(const SourceGraph& graph, std::vector<std::string> todo) {
  std::set<std::string> needed;
  while (!todo.empty()) {
    const std::string value = std::move(todo.back());
    todo.pop_back();
    if (!needed.insert(value).second) continue;
    const std::optional<size_t> node = graph.producer(value);
    if (node) todo.insert(todo.end(), graph.nodes[*node].inputs.begin(), graph.nodes[*node].inputs.end());
  }
  return needed;
}

[[noreturn]] void fail_missing(const SourceGraph& graph, const std::string& value) {
  const auto declared = graph.values.find(value);
  const bool is_other = declared != graph.values.end() &&
                        (declared->second.dtype == DType::string || declared->second.dtype == DType::undefined);
  if (!is_other) fail(ErrorCode::parse, "nothing gives `{}`", printable(value));
  fail(ErrorCode::unsupported, "`{}` is of a type that is not imported, as strings are", printable(value));
}

}  // namespace

void Importer::run() {
  refuse_unknown(source_);
  write_header(source_, builder_.edit());
  const std::string& name = source_.main.name;
  builder_.enter(builder_.edit().add_graph(builder_.edit().intern(name.empty() ? "tensorflow" : name)));
  for (const SourcePort& port : source_.main.outputs) builder_.reserve(port.name);
  Items items;
  add_inputs(items);
  add_outputs(import(source_.main, std::move(items), std::vector<bool>(source_.main.outputs.size(), true)));
  builder_.sweep(builder_.graph());
}

void Importer::add_inputs(Items& items) {
  for (const SourcePort& port : source_.main.inputs) {
    const auto declared = source_.main.values.find(port.value);
    if (declared == source_.main.values.end()) fail(ErrorCode::parse, "there is no input `{}`", printable(port.value));
    const ir::TypeId type = input_type(builder_.model(), port, declared->second);
    builder_.release(port.name);
    const ir::ValueId value = builder_.edit().add_input(builder_.graph(), builder_.take_name(port.name), type);
    Item item{.value = value, .codes = {}, .variable = {}, .declared = &declared->second};
    if (declared->second.quantization.is_given() && tensor::is_integer(declared->second.dtype)) {
      builder_.set_subject(port.name);
      item.codes = value;
      item.value = dequantized(builder_, value, declared->second.quantization);
    }
    items[port.value] = std::move(item);
  }
}

// A value that may be an output: a result of a node that is none yet.
ir::ValueId Importer::output(const Item& item, const std::string& name) {
  const ir::ValueId value = item.codes ? item.codes : item.value;
  if (!value || item.list) fail(ErrorCode::unsupported, "the output `{}` is no tensor", printable(name));
  builder_.set_subject(name);
  const ir::Model& model = builder_.model();
  const bool is_free = model[value].kind == ir::ValueKind::result && !builder_.is_output(value) &&
                       model[value].graph == builder_.graph();
  const ir::ValueId made = is_free ? value : builder_.add({"Identity", {value}});
  builder_.mark_output(made);
  // Two outputs may have one name in the file.
  std::string unique = name;
  for (uint64_t i = 1; !output_names_.insert(unique).second; ++i) unique = fmt::format("{}_{}", name, i);
  if (model.text(model[made].name) != unique) builder_.edit().rename(made, builder_.edit().intern(unique));
  return made;
}

void Importer::add_outputs(const std::vector<Item>& outputs) {
  Values values;
  for (size_t i = 0; i < outputs.size(); ++i) values.push_back(output(outputs[i], source_.main.outputs[i].name));
  if (values.empty()) fail(ErrorCode::parse, "the model has no outputs");
  builder_.edit().set_outputs(builder_.graph(), values);
  builder_.write_types(values);
}

const SourceGraph& Importer::function(const std::string& name) const {
  const auto found = source_.functions.find(name);
  if (found == source_.functions.end()) fail(ErrorCode::parse, "there is no function `{}`", printable(name));
  return found->second;
}

std::vector<Item> Importer::call(const std::string& name, std::vector<Item> arguments, const std::string& scope) {
  return call(name, std::move(arguments), scope, std::vector<bool>(function(name).outputs.size(), true));
}

std::vector<Item> Importer::call(const std::string& name, const SourceNode& node, std::vector<Item> arguments,
                                 const std::string& scope) {
  std::vector<bool> wanted(function(name).outputs.size());
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = needed_.back().contains(node.output(i));
  return call(name, std::move(arguments), scope, wanted);
}

std::vector<Item> Importer::call(const std::string& name, std::vector<Item> arguments, const std::string& scope,
                                 const std::vector<bool>& wanted) {
  const SourceGraph& called = function(name);
  if (std::ranges::find(active_, name) != active_.end() || active_.size() >= kMostCalls) {
    fail(ErrorCode::parse, "the function `{}` calls itself", printable(name));
  }
  if (arguments.size() < called.inputs.size()) {
    fail(ErrorCode::parse, "the function `{}` has {} arguments, and {} are given", printable(name),
         called.inputs.size(), arguments.size());
  }
  Items items;
  for (size_t i = 0; i < called.inputs.size(); ++i) items[called.inputs[i].value] = std::move(arguments[i]);
  const std::string outer = std::exchange(scope_, scope.empty() ? scope_ : scope + "/");
  active_.push_back(name);
  std::vector<Item> outputs = import(called, std::move(items), wanted);
  active_.pop_back();
  scope_ = outer;
  return outputs;
}

ir::ValueId Importer::variable(const Item& handle) {
  if (handle.variable.empty()) return handle.value;
  const auto known = variables_.find(handle.variable);
  if (known != variables_.end()) return known->second;
  const auto found = source_.variables.find(handle.variable);
  if (found == source_.variables.end()) {
    fail(ErrorCode::unsupported, "the variable `{}` has no value in the model's files", printable(handle.variable));
  }
  const ir::ValueId value = builder_.constant(found->second);
  builder_.name(value, handle.variable, "");
  return variables_[handle.variable] = value;
}

Values Importer::body_outputs(ir::GraphId graph, const std::vector<Item>& items) {
  const ir::Model& model = builder_.model();
  std::set<ir::ValueId> taken;
  Values outputs;
  for (const Item& item : items) {
    const ir::ValueId value = item.codes ? item.codes : item.list ? list_tensor(builder_, item) : item.value;
    if (!value) fail(ErrorCode::unsupported, "a body gives what is no tensor");
    const bool is_free = model[value].kind == ir::ValueKind::result && model[value].graph == graph;
    outputs.push_back(is_free && taken.insert(value).second ? value : builder_.add({"Identity", {value}}));
  }
  return outputs;
}

// Makes the nodes that the outputs need, each after those that it needs itself.
std::vector<Item> Importer::import(const SourceGraph& graph, Items items, const std::vector<bool>& wanted) {
  std::vector<std::string> todo;
  std::set<size_t> open;
  for (size_t i = graph.outputs.size(); i-- > 0;) {
    if (wanted[i]) todo.push_back(graph.outputs[i].value);
  }
  needed_.push_back(values_needed_for(graph, todo));
  while (!todo.empty()) {
    const std::string value = todo.back();
    if (bind(graph, value, items)) {
      todo.pop_back();
      continue;
    }
    const std::optional<size_t> node = graph.producer(value);
    if (!node) fail_missing(graph, value);
    const bool is_ready = std::ranges::all_of(graph.nodes[*node].inputs, [&](const std::string& input) {
      return input.empty() || bind(graph, input, items);
    });
    if (is_ready) {
      make(graph, *node, items);
      open.erase(*node);
      if (!items.contains(value)) fail(ErrorCode::parse, "nothing gives `{}`", printable(value));
      continue;
    }
    if (!open.insert(*node).second) fail(ErrorCode::parse, "`{}` needs itself", printable(graph.nodes[*node].name));
    for (const std::string& input : graph.nodes[*node].inputs) {
      if (!input.empty() && !items.contains(input)) todo.push_back(input);
    }
  }
  needed_.pop_back();
  std::vector<Item> outputs;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    outputs.push_back(wanted[i] ? items.at(graph.outputs[i].value) : Item());
  }
  return outputs;
}

// True if the value is there; a constant is made now.
bool Importer::bind(const SourceGraph& graph, const std::string& value, Items& items) {
  if (items.contains(value)) return true;
  const auto constant = graph.constants.find(value);
  if (constant == graph.constants.end()) return false;
  builder_.set_subject(scoped(value));
  Item item{.value = builder_.constant(constant->second), .codes = {}, .variable = {}};
  builder_.name(item.value, scoped(value), "");
  const auto declared = graph.values.find(value);
  item.declared = declared == graph.values.end() ? nullptr : &declared->second;
  if (item.declared != nullptr && item.declared->quantization.is_given() && tensor::is_integer(item.declared->dtype)) {
    item.codes = item.value;
    item.value = dequantized(builder_, item.codes, item.declared->quantization);
  }
  items[value] = std::move(item);
  return true;
}

void Importer::make(const SourceGraph& graph, size_t number, Items& items) {
  const SourceNode& node = graph.nodes[number];
  count_node();
  std::vector<Item> inputs;
  for (const std::string& input : node.inputs) inputs.push_back(input.empty() ? Item() : items.at(input));
  builder_.set_subject(scoped(node.name));
  with_frame([&] { return fmt::format("importing `{}` ({})", printable(scoped(node.name)), printable(node.op)); },
             [&] {
               const Maker* const maker = find_maker(source_.is_lite, node.op);
               Site site(*this, builder_, graph, node, std::move(inputs), maker == nullptr ? "" : maker->target);
               if (maker != nullptr) {
                 maker->make(site);
               } else {
                 std::vector<Item> outputs = call(node.op, node, site.items(), scoped(node.name));
                 for (size_t i = 0; i < outputs.size(); ++i) site.give(i, std::move(outputs[i]));
               }
               for (auto& [name, item] : site.given()) items[name] = std::move(item);
             });
}

void Importer::count_node() {
  if (++nodes_ > kMostNodes) fail(ErrorCode::limit, "the model has more than {} nodes", kMostNodes);
}

}  // namespace assay::tensorflow
