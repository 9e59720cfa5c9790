#include "debug/shrink.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "debug/cut_block.h"
#include "debug/minimize.h"
#include "ir/edit.h"
#include "ir/naming.h"
#include "ir/walk.h"
#include "ops/eval.h"
#include "ops/interpreter.h"
#include "ops/write_types.h"
#include "schema/imports.h"
#include "surgery/dead.h"
#include "tensor/elements.h"

namespace assay::debug {
namespace {

using ir::ValueId;

struct Change {
  std::string what;
  std::function<void(ir::Model&, tensor::NamedData&)> apply;
};

struct Candidate {
  ir::Model model;
  tensor::NamedData inputs;
};

std::string name_of(const ir::Model& model, ValueId value) { return printable(model.text(model[value].name)); }

std::vector<ValueId> outputs_of(const ir::Model& model) {
  std::vector<ValueId> outputs;
  for (const ir::Use& use : model.outputs(model.main_graph())) outputs.push_back(use.value);
  return outputs;
}

std::vector<Change> output_changes(const ir::Model& model) {
  std::vector<Change> changes;
  const std::vector<ValueId> outputs = outputs_of(model);
  if (outputs.size() < 2) return changes;
  for (const ValueId output : outputs) {
    changes.push_back({fmt::format("without the output `{}`", name_of(model, output)),
                       [output](ir::Model& changed, tensor::NamedData&) {
                         std::vector<ValueId> left = outputs_of(changed);
                         std::erase(left, output);
                         if (left.empty()) fail(ErrorCode::unsupported, "no output is left");
                         ir::Edit(changed).set_outputs(changed.main_graph(), left);
                       }});
  }
  return changes;
}

// Optional operands and attributes of the nodes of the main graph.
std::vector<Change> node_changes(const ir::Model& model) {
  std::vector<Change> changes;
  const ops::Resolver callees(model);
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    const schema::Schema* const schema = callees[node].schema;
    if (schema == nullptr) continue;
    const std::string of = fmt::format(" of `{}`", printable(ir::known_name(model, node)));
    for (uint32_t i = 0; i < model[node].operands.size(); ++i) {
      const schema::ArgumentSchema* const argument = schema->input(i);
      if (!model[node].operands[i].value || argument == nullptr) continue;
      if (argument->option != schema::ArgumentOption::optional) continue;
      changes.push_back(
          {fmt::format("without the operand {}{}", argument->name, of),
           [node, i](ir::Model& changed, tensor::NamedData&) { ir::Edit(changed).set_operand(node, i, ValueId()); }});
    }
    for (const ir::Attribute& attribute : model[node].attributes) {
      const schema::AttributeSchema* const known = schema->find_attribute(model.text(attribute.name()));
      if (known == nullptr || known->required) continue;
      changes.push_back({fmt::format("without the attribute {}{}", known->name, of),
                         [node, name = attribute.name()](ir::Model& changed, tensor::NamedData&) {
                           ir::Edit(changed).remove_attribute(node, name);
                         }});
    }
  }
  return changes;
}

bool is_weight(const ir::Model& model, ValueId value) {
  return model[value].kind == ir::ValueKind::initializer && model[value].constant;
}

const tensor::Tensor& weight_of(const ir::Model& model, ValueId value) { return model[model[value].constant].tensor; }

// Every dim of an input or weight that has this size gets another one.
Change size_change(int64_t old_size, int64_t new_size) {
  return {fmt::format("size {} to {}", old_size, new_size),
          [old_size, new_size](ir::Model& changed, tensor::NamedData& inputs) {
            const auto replaced = [&](tensor::Shape shape) {
              std::ranges::replace(shape, old_size, new_size);
              return shape;
            };
            ir::Edit edit(changed);
            for (const ValueId weight : changed[changed.main_graph()].initializers) {
              if (!is_weight(changed, weight)) continue;
              const tensor::Tensor tensor = weight_of(changed, weight);
              edit.set_tensor(changed[weight].constant, cut_block(tensor, replaced(tensor.shape())));
            }
            for (tensor::NamedDatum& input : inputs) {
              if (!input.value.is_tensor()) continue;
              const tensor::Tensor& tensor = input.value.tensor();
              input.value = tensor::Datum(cut_block(tensor, replaced(tensor.shape())), input.value.declared());
            }
            for (const ValueId input : changed[changed.main_graph()].inputs) {
              const ir::TypeId type = changed[input].type;
              if (!type || changed[type].kind != ir::TypeKind::tensor || !changed[type].ranked) continue;
              std::vector<ir::DimId> dims = changed[type].dims;
              for (ir::DimId& dim : dims) {
                if (changed.dims().as_constant(dim) == old_size) dim = changed.dims().constant(new_size);
              }
              edit.set_type(input, changed.types().tensor(changed[type].dtype, std::move(dims)));
            }
          }};
}

std::set<int64_t, std::greater<>> sizes_of(const Candidate& at) {
  std::set<int64_t, std::greater<>> sizes;
  const auto add = [&](const tensor::Shape& shape) { sizes.insert(shape.begin(), shape.end()); };
  for (const tensor::NamedDatum& input : at.inputs) {
    if (input.value.is_tensor()) add(input.value.tensor().shape());
  }
  for (const ValueId weight : at.model[at.model.main_graph()].initializers) {
    if (is_weight(at.model, weight)) add(weight_of(at.model, weight).shape());
  }
  sizes.erase(sizes.upper_bound(2), sizes.end());  // 1 and 0 stay; 2 may become 1
  return sizes;
}

// `number_for`: what a weight is filled with.
std::vector<Change> weight_changes(const ir::Model& model, double (*number_for)(const std::vector<double>&)) {
  std::vector<Change> changes;
  for (const ValueId weight : model[model.main_graph()].initializers) {
    if (!is_weight(model, weight) || !tensor::is_floating(weight_of(model, weight).dtype())) continue;
    const std::vector<double> numbers = tensor::load_elements<double>(weight_of(model, weight));
    const bool is_plain = std::ranges::adjacent_find(numbers, std::not_equal_to()) == numbers.end();
    if (numbers.size() < 2 || is_plain) continue;
    const double number = number_for(numbers);
    changes.push_back({fmt::format("the weight `{}` filled with {:.4g}", name_of(model, weight), number),
                       [weight, number](ir::Model& changed, tensor::NamedData&) {
                         const tensor::Tensor& old = weight_of(changed, weight);
                         ir::Edit(changed).set_tensor(
                             changed[weight].constant,
                             ops::make_rounded(old.dtype(), old.shape(), std::vector<double>(old.count(), number)));
                       }});
  }
  return changes;
}

double one(const std::vector<double>&) { return 1; }

double mean(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number / static_cast<double>(numbers.size());
  return sum;
}

// The oldest version of each domain in which all its operators are those that the model has.
std::vector<Change> opset_changes(const ir::Model& model) {
  std::map<std::string_view, int64_t> oldest;
  const ops::Resolver callees(model);
  for (const ir::GraphId graph : ir::live_graphs(model)) {
    for (const ir::NodeId node : ir::nodes(model, graph)) {
      if (callees[node].schema == nullptr) continue;
      int64_t& version = oldest[callees[node].schema->domain];
      version = std::max(version, callees[node].schema->since);
    }
  }
  std::vector<Change> changes;
  const std::vector<ir::OpsetImport>& imports = model.header().opset_imports;
  for (size_t i = 0; i < imports.size(); ++i) {
    const auto found = oldest.find(schema::canonical_domain(model.text(imports[i].domain)));
    if (found == oldest.end() || found->second >= imports[i].version || !model.functions().empty()) continue;
    changes.push_back({fmt::format("operator set {} to {}", imports[i].version, found->second),
                       [i, version = found->second](ir::Model& changed, tensor::NamedData&) {
                         ir::Edit(changed).header().opset_imports[i].version = version;
                       }});
  }
  return changes;
}

class Shrinker {
 public:
  Shrinker(const ir::Model& model, const tensor::NamedData& inputs, FailsStill fails_still)
      : fails_still_(fails_still), at_{model.copy(), inputs} {}

  Shrunk run() {
    if (!runs(at_)) return finish();
    take_most(output_changes(at_.model));
    take_most(node_changes(at_.model));
    while (shrink_a_size()) {
    }
    take_most(weight_changes(at_.model, one));
    take_most(weight_changes(at_.model, mean));
    take_most(opset_changes(at_.model));
    return finish();
  }

 private:
  Shrunk finish() { return {std::move(at_.model), std::move(at_.inputs), std::move(taken_)}; }

  // All of them, or all but the fewest without which it would not fail.
  void take_most(const std::vector<Change>& changes) {
    if (changes.empty() || take(changes)) return;
    const auto judge = [&](std::span<const Subset> left_out, uint64_t) {
      std::vector<Verdict> verdicts;
      for (const Subset& out : left_out) {
        verdicts.push_back(fails(changed(without(changes, out)), without(changes, out)) ? Verdict::fails
                                                                                        : Verdict::passes);
      }
      return verdicts;
    };
    const Subset out = minimize(static_cast<uint32_t>(changes.size()), judge, {});
    accept(changed(without(changes, out)), without(changes, out));
  }

  // Again from the beginning after each: a window that has shrunk lets the images shrink.
  bool shrink_a_size() {
    for (const int64_t size : sizes_of(at_)) {
      for (int64_t smaller = 1; smaller < size; smaller *= 2) {
        if (take({size_change(size, smaller)})) return true;
      }
    }
    return false;
  }

  bool take(const std::vector<Change>& changes) {
    std::optional<Candidate> candidate = changed(changes);
    if (!fails(candidate, changes)) return false;
    accept(std::move(candidate), changes);
    return true;
  }

  static std::vector<Change> without(const std::vector<Change>& changes, const Subset& left_out) {
    std::vector<Change> left;
    for (uint32_t i = 0; i < changes.size(); ++i) {
      if (!std::ranges::binary_search(left_out, i)) left.push_back(changes[i]);
    }
    return left;
  }

  bool fails(const std::optional<Candidate>& candidate, const std::vector<Change>& changes) {
    if (!candidate) return false;
    const std::string what = words_of(changes);
    if (passed_.contains(what)) return false;
    const bool does_fail = fails_still_(candidate->model, candidate->inputs, what);
    if (!does_fail) passed_.insert(what);
    return does_fail;
  }

  static std::string words_of(const std::vector<Change>& changes) {
    std::vector<std::string> words;
    for (const Change& change : changes) words.push_back(change.what);
    return join(words, ", ");
  }

  void accept(std::optional<Candidate> candidate, const std::vector<Change>& changes) {
    if (changes.empty() || !candidate) return;
    at_ = std::move(*candidate);
    for (const Change& change : changes) taken_.push_back(change.what);
  }

  // Nothing: it would not be a sound model.
  std::optional<Candidate> changed(const std::vector<Change>& changes) {
    std::variant<Candidate, Error> made = attempt([&] {
      Candidate candidate{at_.model.copy(), at_.inputs};
      for (const Change& change : changes) change.apply(candidate.model, candidate.inputs);
      surgery::remove_dead(candidate.model);
      return candidate;
    });
    Candidate* const candidate = std::get_if<Candidate>(&made);
    if (candidate == nullptr || !renew_types(candidate->model) || !runs(*candidate)) return std::nullopt;
    return std::move(*candidate);
  }

  static bool renew_types(ir::Model& model) {
    ir::Edit edit(model);
    for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
      for (const ValueId value : model[node].results) {
        if (value) edit.set_type(value, {});
      }
    }
    ops::Inference inference(model);
    inference.run();
    if (!inference.findings().empty()) return false;
    ops::write_types(inference, model);
    return true;
  }

  // Also gives outputs whose types cannot be inferred those that they have now.
  static bool runs(Candidate& candidate) {
    ir::Model& model = candidate.model;
    std::vector<ops::InputDatum> inputs;
    for (const ValueId input : model[model.main_graph()].inputs) {
      const auto found = std::ranges::find(candidate.inputs, model.text(model[input].name), &tensor::NamedDatum::name);
      if (found != candidate.inputs.end()) inputs.push_back({input, found->value});
    }
    std::vector<std::pair<ValueId, tensor::Datum>> outputs;
    const auto run = attempt([&] {
      ops::Interpreter(model, {}).run(inputs, outputs_of(model), [&](ValueId value, const tensor::Datum& datum) {
        outputs.emplace_back(value, datum);
      });
      return true;
    });
    for (const auto& [value, datum] : outputs) complete_type(model, value, datum);
    return std::holds_alternative<bool>(run);
  }

  static void complete_type(ir::Model& model, ValueId value, const tensor::Datum& datum) {
    if (!datum.is_tensor() || model[value].type) return;
    std::vector<ir::DimId> dims;
    for (const int64_t dim : datum.tensor().shape()) dims.push_back(model.dims().constant(dim));
    ir::Edit(model).set_type(value, model.types().tensor(datum.declared(), std::move(dims)));
  }

  FailsStill fails_still_;
  Candidate at_;
  std::vector<std::string> taken_;
  std::set<std::string> passed_;  // changes that are not tried again
};

}  // namespace

Shrunk shrink(const ir::Model& model, const tensor::NamedData& inputs, FailsStill fails_still) {
  return Shrinker(model, inputs, fails_still).run();
}

}  // namespace assay::debug
