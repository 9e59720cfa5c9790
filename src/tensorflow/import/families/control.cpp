#include <algorithm>
#include <array>

#include "tensorflow/import/importer.h"
#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

using tensor::DType;

ir::ValueId shown(const Item& item) { return item.codes ? item.codes : item.value; }

std::vector<Item> rest_of(const std::vector<Item>& items, size_t first) {
  return {items.begin() + static_cast<ptrdiff_t>(std::min(first, items.size())), items.end()};
}

void give_all(Site& site, const std::vector<Item>& items) {
  for (size_t i = 0; i < items.size(); ++i) site.give(i, items[i]);
}

void make_const(Site& site) {
  const auto found = site.node().attributes.find("value");
  const auto* const tensor =
      found == site.node().attributes.end() ? nullptr : std::get_if<tensor::Tensor>(&found->second);
  if (tensor == nullptr) site.refuse("its value is of a type that is not imported, as strings are");
  site.give(0, site.build().constant(*tensor));
}

// A handle, and what is read through it.
void make_handle(Site& site) { site.give(0, Item{.value = {}, .codes = {}, .variable = site.node().name}); }
void make_read(Site& site) { site.give(0, site.importer().variable(site.item(0))); }

// A variable of the first generation is its own value.
void make_variable(Site& site) {
  site.give(0, site.importer().variable(Item{.value = {}, .codes = {}, .variable = site.node().name}));
}

void make_call(Site& site) { give_all(site, site.importer().call(site.text("f", ""), site.items(), site.node().name)); }

// Values that are known where the node stands, so that branches can use them as they are.
ir::GraphId branch(Site& site, const std::string& attribute) {
  Importer& importer = site.importer();
  return importer.body(attribute, [&](ir::GraphId graph) {
    const std::vector<Item> given =
        importer.call(site.text(attribute, ""), rest_of(site.items(), 1), site.node().name + "/" + attribute);
    return importer.body_outputs(graph, given);
  });
}

ir::Attribute body_attribute(Site& site, std::string_view name, ir::GraphId body) {
  return ir::Attribute::of(site.build().edit().intern(name), ir::AttributeType::graph, body);
}

// Gives the outputs of a node with bodies; codes mean what the file declares.
void give_bodies_results(Site& site, const Values& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    Item item{.value = results[i], .codes = {}, .variable = {}};
    const SourceValue* const declared = site.declared_output(i);
    if (declared != nullptr) site.build().declare(results[i], declared->dtype, declared->dims);
    if (declared != nullptr && declared->quantization.is_given() && tensor::is_integer(declared->dtype)) {
      item.codes = results[i];
      item.value = dequantized(site.build(), results[i], declared->quantization);
    }
    site.give(i, std::move(item));
  }
}

ir::ValueId condition_of(Site& site, ir::ValueId value) { return site.build().cast(value, DType::boolean); }

void make_if(Site& site) {
  const ir::ValueId condition = condition_of(site, site.input(0));
  const ir::GraphId chosen = branch(site, "then_branch");
  const ir::GraphId other = branch(site, "else_branch");
  const std::array attributes = {body_attribute(site, "then_branch", chosen),
                                 body_attribute(site, "else_branch", other)};
  const size_t count = site.build().model().outputs(chosen).size();
  give_bodies_results(site, site.build().add_many({"If", {condition}}, count, attributes));
}

// States of a loop: tensors that the body changes go round. Handles, and what the body hands on as it is, are known
// where the node stands, so that the body can use them as they are.
class Loop {
 public:
  explicit Loop(Site& site)
      : site_(site),
        importer_(site.importer()),
        build_(site.build()),
        body_(importer_.function(site.text("body", ""))),
        states_(site.items()) {}

  void make() {
    const std::string prefix = site_.node().name;
    if (body_.outputs.size() < states_.size() || body_.inputs.size() < states_.size()) {
      fail(ErrorCode::parse, "its body has less arguments or results than it has states");
    }
    Values operands = {ir::ValueId(), tested(states_, prefix + "/first")};
    for (size_t i = 0; i < states_.size(); ++i) {
      if (changes(i)) operands.push_back(shown(states_[i]));
    }
    const ir::GraphId body = importer_.body("body", [&](ir::GraphId graph) { return fill(graph, prefix); });
    const std::array attributes = {body_attribute(site_, "body", body)};
    give(build_.add_many({"Loop", operands}, operands.size() - 2, attributes));
  }

 private:
  bool changes(size_t state) const {
    return shown(states_[state]).valid() && body_.outputs[state].value != body_.inputs[state].value;
  }

  ir::ValueId tested(const std::vector<Item>& states, const std::string& scope) {
    const std::vector<Item> given = importer_.call(site_.text("cond", ""), states, scope);
    if (given.empty() || !given.front().value) fail(ErrorCode::parse, "its condition gives nothing");
    const ir::ValueId flag = given.front().value;
    return build_.rank(flag) == size_t{0} ? flag : build_.reshape(flag, {});
  }

  Values fill(ir::GraphId graph, const std::string& prefix) {
    const auto input = [&](const std::string& name, ir::TypeId type) {
      return build_.edit().add_input(graph, build_.take_name(prefix + "/" + name), type);
    };
    ir::Model& model = build_.model();
    input("iteration", model.types().tensor(DType::int64, {}));
    input("condition", model.types().tensor(DType::boolean, {}));
    std::vector<Item> inside = states_;
    for (size_t i = 0; i < inside.size(); ++i) {
      if (changes(i)) inside[i] = state(i, input("state", {}));
    }
    std::vector<Item> next = importer_.call(site_.text("body", ""), inside, prefix + "/body");
    next.resize(states_.size());
    for (size_t i = 0; i < next.size(); ++i) {
      if (!changes(i)) next[i] = states_[i];
    }
    const ir::ValueId goes_on = tested(next, prefix + "/next");
    std::vector<Item> outputs = {Item{.value = goes_on, .codes = {}, .variable = {}}};
    for (size_t i = 0; i < next.size(); ++i) {
      if (changes(i)) outputs.push_back(next[i]);
    }
    return importer_.body_outputs(graph, outputs);
  }

  // The state in the body, of which the file may declare the sizes; otherwise they may change from round to round.
  Item state(size_t number, ir::ValueId value) {
    const Item& outside = states_[number];
    const ops::Type type = build_.type(shown(outside));
    std::optional<Ints> dims;
    if (type.dims) dims = Ints(type.dims->size(), -1);
    const auto declared = body_.values.find(body_.inputs[number].value);
    if (declared != body_.values.end()) dims = declared->second.dims;
    build_.declare(value, type.dtype, dims);
    Item inside{.value = value, .codes = {}, .variable = {}, .declared = outside.declared};
    if (outside.codes) {
      inside.codes = value;
      inside.value = dequantized(build_, value, outside.declared->quantization);
    }
    return inside;
  }

  void give(const Values& results) {
    size_t result = 0;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (!changes(i)) {
        site_.give(i, states_[i]);
        continue;
      }
      Item item{.value = results[result++], .codes = {}, .variable = {}, .declared = states_[i].declared};
      if (states_[i].codes) {
        item.codes = item.value;
        item.value = dequantized(build_, item.codes, states_[i].declared->quantization);
      }
      site_.give(i, std::move(item));
    }
  }

  Site& site_;
  Importer& importer_;
  Builder& build_;
  const SourceGraph& body_;
  const std::vector<Item> states_;
};

void make_while(Site& site) { Loop(site).make(); }

constexpr std::array kControlRows = {
    Maker{"Const", "", make_const},
    Maker{"If", "IF", make_if},
    Maker{"PartitionedCall", "", make_call},
    Maker{"ReadVariableOp", "", make_read},
    Maker{"StatefulPartitionedCall", "", make_call},
    Maker{"StatelessIf", "", make_if},
    Maker{"StatelessWhile", "", make_while},
    Maker{"VarHandleOp", "", make_handle},
    Maker{"Variable", "", make_variable},
    Maker{"VariableV2", "", make_variable},
    Maker{"While", "WHILE", make_while},
};

}  // namespace

Makers control_makers() { return kControlRows; }

}  // namespace assay::tensorflow
