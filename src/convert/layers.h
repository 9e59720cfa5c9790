#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/model.h"
#include "match/named_nodes.h"

namespace assay::convert {

// A node that a conversion is about, and what becomes of it.
struct Layer {
  ir::NodeId node;
  std::string name;  // name in messages
  std::string op;
  bool converted = false;
  std::string reason;  // for not converting it
};

// The node as a layer, converted unless there is a reason.
Layer make_layer(const ir::Model& model, ir::NodeId node, std::string reason);

// The nodes of the layers that are converted.
std::vector<ir::NodeId> converted_nodes(const std::vector<Layer>& layers);

// The choice of layers to convert. Names are those of nodes or of their results, and may have wildcards; operators are
// the same in upper and lower case.
struct LayerChoice {
  std::vector<std::string> excluded;
  std::vector<std::string> excluded_ops;
  std::vector<std::string> only_ops;       // empty: all that the conversion knows
  std::map<ir::NodeId, std::string> kept;  // nodes that stay as they are, and why
};

// Keeps all but the first layers of those that would be converted. False: there are no more than that.
bool keep_behind(uint64_t most, const std::vector<Layer>& layers, LayerChoice& choice);

// A choice for one model. Errors and findings: those of match::named_nodes.
class LayerFilter {
 public:
  LayerFilter(const ir::Model& model, const std::vector<ir::NodeId>& nodes, const LayerChoice& choice,
              Diagnostics& findings)
      : choice_(choice), excluded_(match::named_nodes(model, nodes, choice.excluded, findings)) {}

  // The reason for which a node of this operator stays as it is; empty: nothing was said against it.
  std::string refusal(ir::NodeId node, std::string_view op) const;

 private:
  const LayerChoice& choice_;
  std::vector<bool> excluded_;  // by node
};

}  // namespace assay::convert
