#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/arena.h"
#include "ir/attribute.h"
#include "ir/dims.h"
#include "ir/ids.h"
#include "ir/origins.h"
#include "ir/pool.h"
#include "ir/symbols.h"
#include "ir/types.h"
#include "tensor/tensor.h"

namespace assay::ir {

// The place of an imported thing in its file: a whole field, the first `header` bytes of which are tag and length.
struct SourceRange {
  uint64_t offset = 0;
  uint64_t size : 56 = 0;
  uint64_t header : 7 = 0;
  bool present : 1 = false;
};

// One place where a value is used; part of the value's list of uses.
struct Use {
  ValueId value;  // invalid: an optional operand that is left out
  NodeId user;
  uint32_t index = 0;
  Use* previous = nullptr;
  Use* next = nullptr;
};

// The definition of a value.
enum class ValueKind : uint8_t {
  undefined,    // nothing: a name that a damaged model uses and never defines
  input,        // of its graph; may have a tensor as default
  initializer,  // a tensor of its graph
  result,       // of a node
};

struct Value {
  Symbol name = kEmpty;
  Symbol source_name = kEmpty;  // name in its file, and of its description there
  GraphId graph;
  NodeId producer;     // of results
  uint32_t index = 0;  // among the producer's results
  TypeId type;         // invalid: not known
  TensorId constant;   // of initializers and of inputs with a default
  Use* first_use = nullptr;
  ValueKind kind = ValueKind::undefined;
  bool alive = true;
  bool dirty = false;  // true: the type was edited
};

struct Node {
  Symbol op = kEmpty;
  Symbol domain = kEmpty;
  Symbol overload = kEmpty;
  GraphId graph;
  std::string_view name;  // a label; lives as long as the model
  NodeId previous;
  NodeId next;
  uint64_t order = 0;  // increases along the graph's list
  bool alive = true;
  bool dirty = false;  // itself or a body below it was edited
  bool is_outputs = false;
  std::span<Use> operands;
  std::span<ValueId> results;  // an invalid one is an output that is left out
  std::span<Attribute> attributes;
  SourceRange source;
};

// A main graph, a body of a node, or the body of a function. Its outputs are the operands of a hidden last node, so
// that a graph output is a use like any other.
struct Graph {
  NodeId parent;  // of bodies
  Symbol name = kEmpty;
  std::string doc;
  std::vector<ValueId> inputs;
  std::vector<ValueId> initializers;  // in file order, including defaults of inputs
  NodeId outputs_node;
  NodeId first;
  NodeId last;
  uint32_t node_count = 0;
  bool dirty = false;
  SourceRange source;
};

struct SparseTensor {
  tensor::Tensor values;
  tensor::Tensor indices;
  tensor::Shape dims;
};

// Stands in the documentation of tensors whose elements were taken out, and of models that have such tensors.
inline constexpr std::string_view kWeightless = "TRT_WEIGHTLESS";

// A constant with what its TensorProto says besides: a name, external data, unread fields.
struct TensorEntry {
  tensor::Tensor tensor;
  std::shared_ptr<const SparseTensor> sparse;  // set: a sparse tensor, and `tensor` is empty
  std::string_view external_location;          // relative path as written; empty: not external
  std::string_view name;                       // name in its TensorProto; lives as long as the model
  std::string_view doc;                        // likewise
  bool stripped = false;                       // only the type is there; bytes give an Error (unsupported)
  bool dirty = false;                          // true: the content was edited
  bool renamed = false;                        // the name in its TensorProto no longer holds
  SourceRange source;
};

struct OpsetImport {
  Symbol domain = kEmpty;
  int64_t version = 0;
};

struct Function {
  Symbol domain = kEmpty;
  Symbol name = kEmpty;
  Symbol overload = kEmpty;
  GraphId body;
  std::string doc;
  std::vector<Symbol> attribute_names;  // without defaults
  std::vector<Attribute> attribute_defaults;
  std::vector<OpsetImport> opset_imports;
  bool dirty = false;
  SourceRange source;
};

// Facts about the whole model.
struct Header {
  int64_t ir_version = 0;
  std::vector<OpsetImport> opset_imports;
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  int64_t model_version = 0;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
};

// One pool of nodes and values for the main graph, all bodies and all functions. Reading is here; every change goes
// through Edit (or Rewriter, which uses it), so that lists of uses, orders and dirty marks always hold.
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  Model(Model&&) = default;
  Model& operator=(Model&&) = default;

  // A copy of the model with the same ids; both may be edited. It shares weights, text and the source. O(nodes).
  Model copy() const;

  const Header& header() const { return header_; }
  GraphId main_graph() const { return GraphId{0}; }
  const std::vector<Function>& functions() const { return functions_; }

  const Node& operator[](NodeId id) const { return nodes_[id]; }
  const Value& operator[](ValueId id) const { return values_[id]; }
  const Graph& operator[](GraphId id) const { return graphs_[id.index]; }
  const TensorEntry& operator[](TensorId id) const { return tensors_[id]; }
  const Type& operator[](TypeId id) const { return types_[id]; }
  std::string_view text(Symbol symbol) const { return symbols_.text(symbol); }

  std::span<const Use> outputs(GraphId graph) const { return nodes_[graphs_[graph.index].outputs_node].operands; }
  const Attribute* find_attribute(const Node& node, std::string_view name) const;
  // True if a stands before b; both in the same graph. O(1).
  bool is_before(NodeId a, NodeId b) const { return nodes_[a].order < nodes_[b].order; }
  // The bodies of a node, in attribute order.
  std::vector<GraphId> bodies(const Node& node) const;
  // The graph that this body stands in; invalid for others.
  GraphId enclosing(GraphId graph) const;
  // The main graph, or the body of the function, that this graph is or stands in.
  GraphId root(GraphId graph) const;
  // The node of `graph` that this node is or stands in, however deep; invalid if it stands elsewhere.
  NodeId ancestor_in(NodeId node, GraphId graph) const;

  uint32_t node_slots() const { return nodes_.size(); }  // ids below this were given out; some may be dead
  uint32_t value_slots() const { return values_.size(); }
  uint32_t graph_slots() const { return static_cast<uint32_t>(graphs_.size()); }
  uint32_t tensor_slots() const { return tensors_.size(); }

  SymbolTable& symbols() { return symbols_; }
  const SymbolTable& symbols() const { return symbols_; }
  DimTable& dims() { return dims_; }
  const DimTable& dims() const { return dims_; }
  TypeTable& types() { return types_; }
  const TypeTable& types() const { return types_; }
  const Origins& origins() const { return origins_; }
  Arena& arena() { return *arena_; }

  // Keeps what borrowed text and mapped tensors point into alive as long as the model.
  void hold(std::shared_ptr<const void> resource) { held_.push_back(std::move(resource)); }
  // The file this model was imported from; none for models built in memory.
  const std::shared_ptr<const MappedFile>& source() const { return source_; }
  // Names of values that were erased, by graph; what describes them in the source is not written again.
  const std::set<std::pair<GraphId, Symbol>>& forgotten_names() const { return forgotten_names_; }
  bool is_edited() const { return edited_; }
  bool is_header_edited() const { return header_dirty_; }

 private:
  friend class Edit;

  void copy_arrays(Node& node);
  void copy_uses(const Model& original);

  Header header_;
  std::vector<Function> functions_;
  Pool<NodeId, Node> nodes_;
  Pool<ValueId, Value> values_;
  std::vector<Graph> graphs_;
  Pool<TensorId, TensorEntry> tensors_;
  SymbolTable symbols_;
  DimTable dims_;
  TypeTable types_;
  Origins origins_;
  std::shared_ptr<Arena> arena_ = std::make_shared<Arena>();
  std::vector<std::shared_ptr<const void>> held_;
  std::shared_ptr<const MappedFile> source_;
  std::set<std::pair<GraphId, Symbol>> forgotten_names_;
  bool edited_ = false;
  bool header_dirty_ = false;
};

// The nodes of one graph in order; may be edited while it is walked, as long as the current node stays.
class NodeRange {
 public:
  class Iterator {
   public:
    Iterator(const Model* model, NodeId id) : model_(model), id_(id) {}
    NodeId operator*() const { return id_; }
    Iterator& operator++() {
      id_ = (*model_)[id_].next;
      return *this;
    }
    bool operator==(const Iterator& other) const { return id_ == other.id_; }

   private:
    const Model* model_;
    NodeId id_;
  };

  NodeRange(const Model& model, GraphId graph) : model_(&model), graph_(graph) {}
  Iterator begin() const { return {model_, (*model_)[graph_].first}; }
  Iterator end() const { return {model_, NodeId{}}; }

 private:
  const Model* model_;
  GraphId graph_;
};

inline NodeRange nodes(const Model& model, GraphId graph) { return {model, graph}; }

// The uses of one value, in no particular order.
class UseRange {
 public:
  class Iterator {
   public:
    explicit Iterator(const Use* use) : use_(use) {}
    const Use& operator*() const { return *use_; }
    Iterator& operator++() {
      use_ = use_->next;
      return *this;
    }
    bool operator==(const Iterator& other) const { return use_ == other.use_; }

   private:
    const Use* use_;
  };

  explicit UseRange(const Value& value) : first_(value.first_use) {}
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(nullptr); }

 private:
  const Use* first_;
};

inline UseRange uses(const Model& model, ValueId value) { return UseRange(model[value]); }

}  // namespace assay::ir
