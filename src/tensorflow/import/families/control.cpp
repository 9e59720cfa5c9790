#include <algorithm>
#include <array>

#include "tensorflow/import/loop.h"
#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

using tensor::DType;

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

void make_call(Site& site) {
  give_all(site, site.importer().call(site.text("f", ""), site.node(), site.items(), site.node().name));
}

// Values that are known where the node stands, so that branches can use them as they are.
std::vector<Item> called_branch(Site& site, const std::string& attribute) {
  return site.importer().call(site.text(attribute, ""), rest_of(site.items(), 1), site.node().name + "/" + attribute);
}

// Makes a branch of an If, and gives its results.
std::vector<Item> fill_branch(Site& site, ir::GraphId graph, const std::string& attribute) {
  std::vector<Item> given;
  site.importer().fill_body(graph, [&] {
    given = called_branch(site, attribute);
    return site.importer().body_outputs(graph, given);
  });
  return given;
}

ir::Attribute body_attribute(Site& site, std::string_view name, ir::GraphId body) {
  return ir::Attribute::of(site.build().edit().intern(name), ir::AttributeType::graph, body);
}

// Gives the outputs of a node with bodies, of which one gives `items`; codes mean what the file declares.
void give_bodies_results(Site& site, const Values& results, const std::vector<Item>& items) {
  for (size_t i = 0; i < results.size(); ++i) {
    Item item{.value = results[i], .codes = {}, .variable = {}};
    if (items[i].list) item = as_list(site.build(), results[i]);
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

// A condition that is known without running the model.
std::optional<bool> truth_of(Builder& build, ir::ValueId condition) {
  const tensor::Tensor* const constant = build.constant_of(condition);
  if (constant == nullptr || constant->count() != 1) return std::nullopt;
  return constant->bytes()[0] != std::byte{0};
}

// A node whose branches give as many values as they are to give, before they are made: what is made in them is inferred
// at once then.
void make_if(Site& site) {
  Builder& build = site.build();
  const ir::ValueId condition = condition_of(site, site.input(0));
  if (const std::optional<bool> known = truth_of(build, condition)) {
    return give_all(site, called_branch(site, *known ? "then_branch" : "else_branch"));
  }
  const ir::GraphId chosen = build.add_body("then_branch");
  const ir::GraphId other = build.add_body("else_branch");
  const size_t count = site.importer().function(site.text("then_branch", "")).outputs.size();
  for (const ir::GraphId body : {chosen, other}) build.edit().set_outputs(body, Values(count, condition));
  const std::array attributes = {body_attribute(site, "then_branch", chosen),
                                 body_attribute(site, "else_branch", other)};
  const Values results = build.add_many({"If", {condition}}, count, attributes);
  const std::vector<Item> given = fill_branch(site, chosen, "then_branch");
  if (fill_branch(site, other, "else_branch").size() != count) {
    fail(ErrorCode::parse, "its branches give different numbers of values");
  }
  give_bodies_results(site, results, given);
}

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
