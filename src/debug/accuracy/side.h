#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "debug/accuracy/layer_runs.h"
#include "debug/accuracy/quantized.h"

namespace assay::debug {

// The values of the main graph that one side gave.
struct SideValues {
  std::string name;
  std::string backend = {};  // that ran it; empty: saved results
  std::map<ir::ValueId, Datum> values;
  double least_unit = 0;  // of the narrowest type that it is permitted to compute in; 0: it keeps to the declared ones
  std::map<ir::NodeId, QuantizedValues> quantized = {};  // values that its model has in codes, by layer
};

// One side while the layers are gone through, and what is known of it.
class Side {
 public:
  // `truth` gives the true values that are still known.
  Side(const ir::Model& model, SideValues values, uint64_t max_memory_bytes, OperandSource truth);

  const std::string& name() const { return given_.name; }
  bool gives(ir::ValueId value) const { return given_.values.contains(value); }
  const Datum& given(ir::ValueId value) const { return given_.values.at(value); }
  // The values that its model has in codes at this layer; null: none.
  const QuantizedValues* quantized(ir::NodeId node) const;
  // Operands of the layer at hand as its model has them, in the place of what it gave; none at first.
  void replace(std::map<ir::ValueId, Datum> operands) { replaced_ = std::move(operands); }
  // Notes a fault of a layer whose results the side does not give: they are computed as if the quantizer were not
  // there.
  void note_fault(ir::NodeId node, const QuantizerFault& fault);
  // A fault in the layers that are judged with this one; null: none.
  const QuantizerFault* fault_before(ir::NodeId node) const;
  // True if codes that the side does not show have a part in an operand.
  bool hides_codes(ir::NodeId node) const;
  // The value that this side gave; if it gave none, the value computed from its inputs; if those are unknown, the true
  // value.
  Datum value(ir::ValueId value) const;
  // Takes a value that the side gives in another floating type as one of the declared type.
  void take_type(ir::ValueId value, const Datum& truth);
  // True if the side gave every result that is used later.
  bool shows(ir::NodeId node) const;
  // True if an operand was computed here, and may be another.
  bool has_doubts(ir::NodeId node) const;
  // The layers before a node whose results it does not give.
  std::vector<std::string> group_of(ir::NodeId node) const;

  LayerRounding& rounding() { return *rounding_; }
  // A node on its values, without any run.
  std::shared_ptr<LayerRuns> make_runs(ir::NodeId node, const std::vector<ir::ValueId>& captured,
                                       const std::vector<Datum>& exact) const;
  // Like make_runs, but ignores values of the preceding elementwise layers, which the side may have merged, and
  // infinite ones. Returns nullopt if an operand is not known any more.
  std::optional<std::vector<analysis::Samples>> run_merged(ir::NodeId node) { return run_merged(node, kMostMerged); }

  // A result that it does not give, and that nobody needs or that `runs` were begun for.
  void take_for_granted(ir::NodeId node, size_t result, const Datum& exact, const std::shared_ptr<LayerRuns>& runs);
  // After the last use of values, in the order of the graph: they are dropped once they cannot have been merged.
  void drop_used(std::vector<ir::ValueId> values);

 private:
  static constexpr size_t kMostMerged = 8;  // layers in a row
  struct Doubt {
    std::shared_ptr<LayerRuns> maker;
    size_t result = 0;
  };

  std::optional<std::vector<analysis::Samples>> run_merged(ir::NodeId node, size_t depth);
  bool may_be_unused(ir::NodeId maker, ir::NodeId user, const Datum& shown) const;
  std::optional<analysis::Samples> merged_value(ir::ValueId value, ir::NodeId user, size_t depth);

  const ir::Model& model_;
  SideValues given_;
  OperandSource truth_;
  std::unique_ptr<LayerRounding> rounding_;
  std::map<ir::ValueId, Datum> replaced_;                   // operands, at one layer
  std::map<ir::ValueId, QuantizerFault> faults_;            // of quantizers, by what is computed behind them
  std::set<ir::ValueId> behind_hidden_;                     // computed with codes that it does not show
  std::map<ir::ValueId, Datum> computed_;                   // values that it did not give
  std::map<ir::ValueId, Doubt> doubts_;                     // of these, where they may not be the same in all runs
  std::map<ir::ValueId, std::vector<std::string>> groups_;  // layers that they come from
  std::vector<std::vector<ir::ValueId>> used_;              // by the last layers, for the last time
};

}  // namespace assay::debug
