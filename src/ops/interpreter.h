#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/function_ref.h"
#include "ops/evaluate.h"
#include "ops/live_memory.h"
#include "ops/resolve.h"

namespace assay::ops {

// Takes part in the evaluation of nodes in bodies and functions.
class NodeHook {
 public:
  using Call = FunctionRef<std::vector<Datum>(std::span<const Datum> inputs)>;
  virtual ~NodeHook() = default;
  // The outputs of a node; `call` evaluates it.
  virtual std::vector<Datum> run(ir::NodeId node, std::span<const Datum> inputs, const Call& call) = 0;
};

// Runs bodies in another way.
class BodyHook {
 public:
  using Outer = FunctionRef<Datum(ir::ValueId value)>;
  virtual ~BodyHook() = default;
  // The outputs of a body on these inputs; `outer` gives what it uses from outside. Nullopt: it is run node by node.
  virtual std::optional<std::vector<Datum>> run_body(ir::GraphId body, std::span<const Datum> inputs,
                                                     const Outer& outer) = 0;
};

// Counts from the start of a run to its end.
struct RunAccount {
  uint64_t steps_left = 0;
  double work_left = 0;
  uint64_t seeds_given = 0;
  LiveMemory memory{UINT64_MAX};  // values of this run, and of earlier ones as long as somebody has them
};

struct InterpreterOptions {
  bool is_wide = false;           // fp64 mode: every floating value is carried in double
  uint64_t max_memory_bytes = 0;  // 0: what the machine can give
  uint64_t max_steps = 0;         // runs of bodies, and calls of functions, in all; 0: ten million
  uint64_t max_work = 0;          // in all, see Cost; 0: ten trillion
  uint64_t seed = 0;              // of random nodes without a seed of their own
  bool times_nodes = false;       // of the main graph
  NodeHook* hook = nullptr;
  BodyHook* body_hook = nullptr;
  RunAccount* account = nullptr;  // of the run that this one is part of; null: it is none
};

// The account of a run with these limits.
RunAccount account_of(const InterpreterOptions& limits);
// For the next run: what it may do is as much as before, memory that somebody still has stays counted.
void restart(RunAccount& account, const InterpreterOptions& limits);

struct NodeSeconds {
  ir::NodeId node;
  double seconds = 0;
};

// Takes a value as soon as it is there.
using ValueSink = FunctionRef<void(ir::ValueId value, const Datum& datum)>;
// Told of a node that failed. True: go on; nodes that need its outputs are left out.
using FailureSink = FunctionRef<bool(ir::NodeId node, const Error& error)>;

struct InputDatum {
  ir::ValueId value;
  Datum datum;
};

// Runs a model on the reference operators, node by node in graph order; values are dropped after their last use.
class Interpreter final : private BodyRunner, private Budget {
 public:
  // The model must outlive it and not be edited meanwhile.
  Interpreter(const ir::Model& model, const InterpreterOptions& options);
  ~Interpreter() override;

  // Runs the main graph. `wanted` are values of it; those that are computed are given to `sink`, each once. Inputs
  // without datum take their default. Error names the failing node; with `failures`, the run goes on as it says.
  void run(std::span<const InputDatum> inputs, std::span<const ir::ValueId> wanted, ValueSink sink,
           const FailureSink* failures = nullptr);

  // Nodes of the main graph in the last run, in the order of execution, with times_nodes.
  std::span<const NodeSeconds> node_seconds() const { return node_seconds_; }

  // The outputs of one node, wherever it is in the model, on these inputs; one without value: not given. `captured` are
  // the values that its bodies use from outside. Nothing is kept. Limits hold, and random numbers go on, from one
  // start() to the next.
  void start();
  RunAccount& account() { return *account_; }
  std::vector<Datum> evaluate(ir::NodeId node, std::span<const Datum> inputs,
                              std::span<const InputDatum> captured = {});

  // Runs one node by itself, wherever it stands. What it needs must be constants of the model, or results of nodes that
  // were run so before. Its results are kept until they are released.
  void run_alone(ir::NodeId node);
  const Datum& result(ir::ValueId value) const { return values_[value.index]; }  // of a node that was run alone
  void release(ir::ValueId value) { drop(value); }

  // Varies nodes that are evaluated from now on.
  void vary(const Variation& variation) { variation_ = variation; }

 private:
  struct Step {
    ir::NodeId node;
    std::vector<ir::ValueId> last_used;  // values that nothing needs afterwards
  };
  struct Plan {
    std::vector<Step> steps;
  };

  std::vector<Datum> run_body(ir::GraphId body, std::span<const Datum> inputs) override;
  std::vector<Type> infer_body(ir::GraphId body, std::span<const Datum> inputs) override;
  std::optional<std::vector<Datum>> run_hooked(ir::GraphId body, std::span<const Datum> inputs);
  uint64_t next_seed() override;
  uint64_t max_steps() const override { return options_.max_steps; }
  void admit(const Cost& cost) override;

  const Plan& plan_of(ir::GraphId graph);
  void run_steps(ir::GraphId graph);
  bool run_guarded(const Step& step);
  bool lacks_captured(ir::NodeId node) const;
  void run_node(ir::NodeId id);
  Datum carried(const Datum& datum) const { return options_.is_wide ? widen(datum) : datum; }
  std::vector<Datum> call(ir::NodeId id, std::span<const Datum> inputs);
  NodeRecord* record_of(ir::NodeId id);
  std::vector<Datum> call_function(const ir::Function& function, const ir::Node& node, std::span<const Datum> inputs);
  Datum value_of(ir::ValueId value);
  void set(ir::ValueId value, Datum datum);
  void drop(ir::ValueId value);
  void drop_all();
  void offer(ir::ValueId value);

  const ir::Model& model_;
  InterpreterOptions options_;
  Variation variation_;
  Resolver callees_;
  std::vector<bool> was_called_;                      // by node
  std::vector<std::unique_ptr<NodeRecord>> records_;  // by node, of those that were called more than once
  std::map<ir::GraphId, Plan> plans_;
  std::vector<Datum> values_;  // by value
  std::vector<bool> is_set_;   // by value
  std::set<ir::ValueId> wanted_;
  const ValueSink* sink_ = nullptr;
  const FailureSink* failures_ = nullptr;
  const AttributeScope* scope_ = nullptr;
  std::vector<const ir::Function*> active_functions_;
  size_t depth_ = 0;  // of bodies in bodies
  RunAccount own_account_;
  RunAccount* account_;
  std::vector<NodeSeconds> node_seconds_;
};

}  // namespace assay::ops
