#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/naming.h"
#include "passes/inferred.h"

namespace assay::passes {

// Facts that the drafts of a model share.
class Drafting {
 public:
  explicit Drafting(PassRun& run) : run_(run), inferred_(run) {}
  PassRun& run() { return run_; }
  Inferred& inferred() { return inferred_; }
  // A name that nothing in the model has.
  ir::Symbol fresh_name(std::string_view base);
  // Another value has taken the place of one that drafts may still hold.
  void replace(ir::ValueId old_value, ir::ValueId value) { replaced_[old_value] = value; }
  ir::ValueId current(ir::ValueId value) const {
    const auto found = replaced_.find(value);
    return found == replaced_.end() ? value : found->second;
  }

 private:
  PassRun& run_;
  Inferred inferred_;
  ir::NameCounter names_;
  std::map<ir::ValueId, ir::ValueId> replaced_;
};

// An operand of a draft: a value of the model, one of the draft's own nodes, or left out.
struct DraftValue {
  ir::ValueId existing;
  std::optional<size_t> made;

  bool is_given() const { return existing.valid() || made.has_value(); }
};

// A node that an adapter adds: a constant if it has a tensor. Only operators whose form is the same in all versions
// from 7 on may be made.
struct DraftNode {
  std::string_view op;
  std::vector<DraftValue> operands;
  std::vector<ir::Attribute> attributes = {};
  std::optional<tensor::Tensor> constant = {};
  tensor::DType dtype = tensor::DType::undefined;  // of what it gives, where that must be known
};

// A node on its way from one version of its operator to another, apart from the model until all nodes have arrived.
// Its form is that of a schema, so attributes have the types that it gives them.
class Draft {
 public:
  Draft(Drafting& shared, ir::NodeId node, const schema::Schema& source, int64_t target);

  const ir::Model& model() const { return shared_.run().model(); }
  ir::NodeId node() const { return node_; }
  const schema::Schema& source() const { return *source_; }  // the version that the model has
  int64_t target() const { return target_; }                 // and the one that it gets
  const std::string& op() const { return op_; }
  void set_op(std::string_view op);

  const std::vector<ir::Attribute>& attributes() const { return attributes_; }
  bool refers_to_attributes() const;
  const ir::Attribute* find(std::string_view name) const;
  // The attribute as written, else the alternative; lists are empty if nothing is written.
  int64_t integer(std::string_view name, int64_t otherwise) const;
  float floating(std::string_view name, float otherwise) const;
  std::string_view string(std::string_view name, std::string_view otherwise) const;
  std::vector<int64_t> integers(std::string_view name) const;
  std::vector<float> floats(std::string_view name) const;
  void set(std::string_view name, int64_t value);
  void set(std::string_view name, float value);
  void set(std::string_view name, std::string_view value);
  void set(std::string_view name, const std::vector<int64_t>& values);
  void set(ir::Attribute attribute);
  void set_tensor(std::string_view name, tensor::Tensor value);
  void drop(std::string_view name);

  const std::vector<DraftValue>& operands() const { return operands_; }
  DraftValue operand(size_t index) const { return index < operands_.size() ? operands_[index] : DraftValue(); }
  bool has(size_t index) const { return operand(index).is_given(); }
  void set_operand(size_t index, DraftValue value);  // operands in between are left out
  void drop_operand(size_t index);                   // operands behind it stay where they are
  bool wants(size_t result) const;                   // true if something may use it
  bool has_result(size_t index) const;               // true if it is not left out
  size_t result_count() const;

  // Nothing where an operand is left out or not known to be a tensor.
  ops::Type type(size_t index) const;
  tensor::DType dtype(size_t index) const { return type(index).dtype; }
  std::optional<int64_t> rank(size_t index) const;
  const tensor::Tensor* constant(size_t index) const;
  std::optional<std::vector<int64_t>> known_integers(size_t index) const;
  ops::Type result_type(size_t index) const;

  DraftValue add(DraftNode node);
  DraftValue add_constant(tensor::Tensor tensor);
  DraftValue add_integers(const std::vector<int64_t>& values);
  DraftValue add_scalar(tensor::DType dtype, double value);
  // A node behind this one: it computes from result number `result`, as its first operand, and takes that one's place.
  // The others are values of the model or made by add().
  void follow(size_t result, DraftNode node);

  ir::Attribute attribute(std::string_view name, int64_t value) const;
  ir::Attribute attribute(std::string_view name, const std::vector<int64_t>& values) const;

  // True if the node is no longer the one that stands in the model.
  bool is_changed() const { return is_changed_; }
  // Makes the model's node what this is.
  void apply();

 private:
  struct Follower {
    size_t result;
    DraftNode node;
  };
  ir::Edit& edit() const { return shared_.run().edit(); }
  ops::Type type_of(ir::ValueId value) const;
  ir::ValueId resolve(const DraftValue& value) const;
  ir::ValueId put(const DraftNode& node, ir::NodeId before, ir::Symbol name);
  ir::Symbol fresh_name() { return shared_.fresh_name(op_); }
  void put_constant(const tensor::Tensor& tensor);
  void put_follower(const Follower& follower);

  Drafting& shared_;
  ir::NodeId node_;
  const schema::Schema* source_;
  int64_t target_;
  std::string op_;
  std::vector<DraftValue> operands_;
  std::vector<ir::Attribute> attributes_;
  std::vector<DraftNode> made_;
  std::vector<Follower> followers_;
  std::vector<ir::ValueId> values_;  // of what was made, while it is applied
  bool is_changed_ = false;
};

}  // namespace assay::passes
