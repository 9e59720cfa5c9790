#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/registered.h"
#include "ir/rewriter.h"
#include "ops/live_inference.h"
#include "ops/resolve.h"
#include "passes/options.h"

namespace assay::passes {

// The effect that a pass may have on the numbers that a model computes.
enum class PassClass {
  exact,     // same bits on the reference
  rounding,  // within the rounding of the operators that it merges
  lossy,     // less precise on purpose; only on request
};

// Something that a pass looked at and left alone, and why.
struct Skipped {
  ir::NodeId node;
  std::string_view pass;
  std::string reason;
};

// One pass at work on a model. Every change goes through the rewriter; a pass stops when that is done. The model is in
// topological order and has no cycles; other faults may be in it, and are left alone.
class PassRun {
 public:
  PassRun(ir::Model& model, ir::Rewriter& rewriter, const Options& options)
      : model_(model), rewriter_(rewriter), options_(options), inference_(rewriter.edit()) {}

  ir::Model& model() { return model_; }
  ir::Rewriter& rewriter() { return rewriter_; }
  const Options& options() const { return options_; }
  // For names, attributes and types that a patch needs.
  ir::Edit& edit() { return rewriter_.edit(); }

  // The callee of a node, also of one that this pass has made.
  ops::Callee callee(ir::NodeId node);
  // True if the node calls this operator of ai.onnx, not a function of that name, in a version that is known and as its
  // schema says: operands that must be there are there, the first result too, attributes have their types.
  bool is_op(ir::NodeId node, std::string_view op);
  // Likewise for whichever operator of ai.onnx has the node's name.
  bool is_standard(ir::NodeId node);
  // True if types or shapes of its operands break the operator's rules, as far as they are known.
  bool is_refused(ir::NodeId node);
  // The operators or versions of nodes, or functions, were changed.
  void forget_callees() { callees_.reset(); }
  // Attributes as written or by default, and what the operator's schema says.
  ops::Node facts(ir::NodeId node);
  // The tensor that a value always is: of an initializer, or of a Constant node. nullptr for others.
  const tensor::Tensor* constant(ir::ValueId value);

  // The inference of the model: as it is now when a pass first asks, and in the pass always the same object, which then
  // also knows what was made, unless functions or versions were edited. It goes from pass to pass.
  const ops::Inference& inference();
  // The type of a value, found when the pass first asks for it: patches keep it.
  const ops::Type& type(ir::ValueId value);

  // A node and why it is left alone; said once, however often the pass runs.
  void skip(ir::NodeId node, std::string reason);
  const std::vector<Skipped>& skipped() const { return skipped_; }

 private:
  friend class Pipeline;
  ir::Model& model_;
  ir::Rewriter& rewriter_;
  const Options& options_;
  std::string_view pass_;
  std::vector<Skipped> skipped_;
  std::set<std::pair<ir::NodeId, std::string_view>> known_skips_;
  std::optional<ops::Resolver> callees_;
  ops::LiveInference inference_;
  bool has_inferred_ = false;  // in this pass
  std::set<ir::NodeId> refused_;
  size_t findings_seen_ = 0;
};

// One transformation. Every <family>/<name>.cpp in src/passes/rewrites and src/convert/passes defines
// `Pass pass_<family>_<name>()`, which is registered by being there; it opens with `Before:`, `After:` and `Only if:`.
// A pass that is defined elsewhere is private to whoever gives it to a pipeline.
struct Pass {
  std::string_view name;     // written by users: `fold-constants`
  std::string_view summary;  // one line for lists: lower case, no full stop
  PassClass pass_class = PassClass::exact;
  std::string_view needs = {};  // options that it does nothing without: it cannot be asked for by its name alone
  void (*run)(PassRun& run) = nullptr;
};

std::span<const Registered<Pass>> registered_passes();
// Error (usage) with the nearest name if there is no such pass.
Pass find_pass(std::string_view name);

}  // namespace assay::passes
