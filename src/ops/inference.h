#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/edit_log.h"
#include "ir/model.h"
#include "ops/evaluate.h"
#include "ops/infer.h"
#include "ops/resolve.h"

namespace assay::ops {

// A fault of a node that inference found: `schema` (a rule that the node breaks by itself), `shape`, `declared_type` or
// `declared_shape` (the model declares another than inferred).
struct InferenceFinding {
  ir::NodeId node;
  std::string_view code;
  std::string message;
};

// True if the reference refuses the node as soon as it comes there.
inline bool breaks_rule(const InferenceFinding& finding) {
  return finding.node.valid() && (finding.code == "schema" || finding.code == "shape");
}

// Types of the model's inputs that hold in the place of the declared ones.
using InputTypes = std::map<ir::ValueId, Type>;

// Types of all values of a model, found from its inputs and constants. Values that shapes are computed from are
// followed too, as numbers or as expressions in the names of dims; sizes that only data decides become symbols of their
// own. The model is only read; what is found lives here, and write_types() puts it into the model.
class Inference final : private BodyInference, private BodyRunner, private Budget {
 public:
  explicit Inference(const ir::Model& model, InputTypes given = {});
  ~Inference() override;

  // Broken rules become findings, each once; where what is inferred contradicts what the model declares, that is a
  // finding with both, and what is inferred holds. A node that fails leaves outputs of unknown shape, so that later
  // findings are independent of it.
  void run();
  // After run() and edits: infers what was made or changed again, and what follows from it as far as it has become
  // another, and forgets what was erased; then all is as run() would find it now, but that sizes which only data
  // decides may have other symbols, and findings another order. False, and nothing is done: only a new inference can
  // tell.
  bool renew(const ir::EditLog& edits);
  // Types that renew() replaced stay in memory, for who still reads them, until this.
  void drop_replaced() { replaced_.clear(); }
  const std::vector<InferenceFinding>& findings() const { return findings_; }

  const Resolver& callees() const { return callees_; }
  // The type of a value. An operand that is left out has none. Of a value in a function it is the type in the last
  // call.
  const Type& type(ir::ValueId value) const { return value.index < types_.size() ? types_[value] : no_type_; }
  const Tensor* constant(ir::ValueId value) const;
  // Elements of a small integer tensor, of which at least one is known; nullptr for others.
  const Elements* elements(ir::ValueId value) const;
  // Multiply-accumulates of a node; 0 where there are none worth counting, unknown where shapes are.
  Dim macs(ir::NodeId node) const;
  // True if a dim depends on what only data decides, or on a dim that the model leaves unnamed.
  bool is_data_size(const Dim& dim) const;

 private:
  std::vector<Type> infer(ir::GraphId body, std::span<const Type> inputs) override;
  std::vector<Datum> run_body(ir::GraphId body, std::span<const Datum> inputs) override;
  uint64_t next_seed() override { return 0; }
  uint64_t max_steps() const override { return 0; }
  void admit(const Cost& cost) override;

  bool may_enter(ir::GraphId graph, ir::NodeId node);
  std::vector<Type> infer_entered(ir::GraphId body, std::span<const Type> inputs);
  void infer_input(ir::ValueId input);
  void infer_graph(ir::GraphId graph);
  void infer_node(ir::NodeId id);
  std::vector<Knowledge> infer_operator(ir::NodeId id, const Node& node, std::span<const Knowledge> inputs);
  std::vector<Knowledge> infer_function(ir::NodeId call, const Node& node, std::span<const Knowledge> inputs);
  // Runs a node whose inputs are all constant and small; false where it cannot be.
  bool fold(const Node& node, const Operator& op, std::span<const Knowledge> inputs, std::span<Knowledge> outputs);
  Knowledge known_of(ir::ValueId value) const;
  void take(ir::NodeId node, ir::ValueId value, Knowledge found);
  void merge_declared(ir::NodeId node, ir::ValueId value, Type& type);
  void name_dims(ir::ValueId value, Dims& dims);
  void note_data_dims(const Type& inferred, const Dims& dims);
  const Type& declared_type(ir::TypeId id);
  void report(ir::NodeId node, std::string_view code, std::string message);

  void set_limits();
  void add_slots();

  // The nodes that renew() has to look at.
  class Worklist;
  bool can_renew(const ir::EditLog& edits);
  void renew_value(ir::ValueId value, Worklist& work);
  void renew_node(ir::NodeId node, Worklist& work);
  void forget(ir::NodeId node);
  void forget_bodies(ir::NodeId node);
  void forget_findings(ir::NodeId node);

  const ir::Model& model_;
  const InputTypes given_;
  mutable DimSpace space_;  // knows dims by number as they are asked for
  Resolver callees_;
  ir::Pool<ir::ValueId, Type> types_;
  std::vector<Type> replaced_;  // by renew()
  const Type no_type_;
  std::unordered_map<ir::TypeId, Type> declared_;
  std::set<ir::DimId> input_dims_;                               // of the model's inputs
  std::set<ir::DimId> data_dims_;                                // that the model names and only data decides
  std::map<ir::ValueId, std::shared_ptr<const Tensor>> folded_;  // constants that nodes compute
  std::map<ir::ValueId, Elements> elements_;
  std::map<ir::NodeId, Dim> macs_;
  std::unordered_map<ir::DimId, std::pair<ir::ValueId, size_t>> made_for_;  // by symbol
  std::set<ir::GraphId> entered_;                                           // bodies; not those that no run enters
  uint32_t model_dims_ = 0;   // that the model had when its symbols were last looked at
  bool is_renewing_ = false;  // true: the tables still hold earlier facts
  std::vector<InferenceFinding> findings_;
  std::set<std::pair<ir::NodeId, std::string>> reported_;  // bodies may be inferred more than once
  const AttributeScope* scope_ = nullptr;
  std::vector<const ir::Function*> active_functions_;
  size_t depth_ = 0;         // of bodies in bodies
  uint64_t steps_left_ = 0;  // nodes of bodies and functions, which may be inferred more than once
  double work_left_ = 0;     // of folding
};

}  // namespace assay::ops
