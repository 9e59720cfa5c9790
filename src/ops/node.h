#pragma once

#include <any>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ir/model.h"
#include "schema/schema.h"

namespace assay::ops {

// The attributes of the call of a function, which nodes of its body refer to.
using AttributeScope = std::map<ir::Symbol, ir::Attribute>;

// A node with the schema that holds for it. Attributes are looked up as written, then as the schema's default; one that
// is neither is an Error, unless the call gives an alternative.
class Node {
 public:
  Node(const ir::Model& model, const ir::Node& node, const schema::Schema* schema, int64_t version,
       const AttributeScope* scope)
      : model_(model), node_(node), schema_(schema), version_(version), scope_(scope) {}
  // A copy of the node with a place for what read() makes.
  Node(const Node& node, std::any& made) : Node(node) { made_ = &made; }

  const ir::Model& model() const { return model_; }
  const ir::Node& ir_node() const { return node_; }
  const schema::Schema* schema() const { return schema_; }  // nullptr: none is known
  std::string_view op() const { return model_.text(node_.op); }
  // The operator-set version of its domain; decide by it where an operator changed its meaning.
  int64_t version() const { return version_; }

  bool has_attribute(std::string_view name) const { return find(name) != nullptr; }  // written, not defaulted
  int64_t integer(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  bool flag(std::string_view name) const { return integer(name, 0) != 0; }
  double floating(std::string_view name) const;
  double floating(std::string_view name, double otherwise) const;
  std::string_view string(std::string_view name) const;
  std::string_view string(std::string_view name, std::string_view otherwise) const;
  // Lists are empty where nothing is written and there is no default.
  std::vector<int64_t> integers(std::string_view name) const;
  std::vector<double> floats(std::string_view name) const;
  std::vector<std::string_view> strings(std::string_view name) const;
  const tensor::Tensor* find_tensor(std::string_view name) const;
  const tensor::Tensor& tensor(std::string_view name) const;
  const ir::SparseTensor* find_sparse_tensor(std::string_view name) const;
  ir::GraphId graph(std::string_view name) const;
  const ir::Attribute* find(std::string_view name) const;

  // A T made of the node, which looks at nothing but attributes and version: one type for each operator. Where the node
  // has a place for it, it is made once.
  template <typename T>
  std::shared_ptr<const T> read() const {
    if (made_ == nullptr) return std::make_shared<const T>(*this);
    if (const auto* const made = std::any_cast<std::shared_ptr<const T>>(made_)) return *made;
    auto made = std::make_shared<const T>(*this);
    *made_ = made;
    return made;
  }

 private:
  const ir::Attribute* find(std::string_view name, ir::AttributeType type, ir::AttributeType plural) const;
  const schema::AttributeSchema* find_default(std::string_view name) const;

  const ir::Model& model_;
  const ir::Node& node_;
  const schema::Schema* schema_;
  int64_t version_;
  const AttributeScope* scope_;
  std::any* made_ = nullptr;
};

// The attributes that a call binds a function's to: as written there, else their defaults.
AttributeScope call_scope(const ir::Function& function, const Node& call);

// An axis counted from the end made one counted from the start. Error where it is out of range.
int64_t normalize_axis(int64_t axis, int64_t rank);
// The axes of a list, counted from the start; Error if an axis occurs twice.
std::vector<int64_t> normalize_axes(std::vector<int64_t> axes, int64_t rank);

}  // namespace assay::ops
