#include "backends/ranks/fused_attention.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"
#include "ir/constants.h"
#include "ir/edit.h"
#include "ir/naming.h"
#include "ir/verify.h"
#include "ops/eval.h"
#include "ops/live_inference.h"
#include "surgery/shard/collective.h"

namespace assay::backends {
namespace {

constexpr std::string_view kRanks = "nb_rank";
constexpr std::string_view kOfTensorRt = "TRT_decomposable";  // an attribute that no operator of ONNX has

formats::ShardHints hints_of(int64_t ranks) {
  formats::ShardHints hints;
  hints.nb_rank = ranks;
  return hints;
}

class FusedAttention {
 public:
  FusedAttention(ir::Model& model, int64_t ranks)
      : model_(model), hints_(hints_of(ranks)), edit_(model), live_(edit_), nodes_(model, edit_, hints_) {}

  void run() {
    std::vector<ir::NodeId> found;
    for (const ir::NodeId node : ir::nodes(model_, model_.main_graph())) {
      if (model_.find_attribute(model_[node], kOfTensorRt) != nullptr) found.push_back(node);
    }
    for (const ir::NodeId node : found) spell(node);
  }

 private:
  int64_t number(ir::NodeId node, std::string_view name, int64_t otherwise) const {
    const ir::Attribute* const written = model_.find_attribute(model_[node], name);
    return written != nullptr && written->type() == ir::AttributeType::integer ? written->integer() : otherwise;
  }

  double scale(ir::NodeId node) const {
    const ir::Attribute* const written = model_.find_attribute(model_[node], "scale");
    return written != nullptr && written->type() == ir::AttributeType::floating
               ? static_cast<double>(written->floating())
               : 1;
  }

  void check_operands(ir::NodeId node) const {
    const auto is_there = [](const ir::Use& use) { return use.value.valid(); };
    const ir::Node& facts = model_[node];
    const bool is_whole = facts.operands.size() == 3 && std::ranges::all_of(facts.operands, is_there) &&
                          facts.results.size() == 1 && facts.results[0].valid();
    if (!is_whole) fail(ErrorCode::shape, "{}: expected Q, K and V, and one output", ir::describe(model_, node));
  }

  void check(ir::NodeId node, const ops::Type& type) const {
    const int64_t written = number(node, kRanks, 1);
    if (written != 1 && written != hints_.nb_rank) {
      fail(ErrorCode::usage, "{} is made for {} ranks, and {} run", ir::describe(model_, node), written,
           hints_.nb_rank);
    }
    if (number(node, "is_causal", 0) != 0)
      fail(ErrorCode::unsupported, "{} masks by places, which ranks do not know", ir::describe(model_, node));
    const bool is_known = type.is_tensor() && type.dims && type.dims->size() >= 2;
    if (!is_known) fail(ErrorCode::unsupported, "the operands of {} have no known rank", ir::describe(model_, node));
  }

  // Elements of all ranks along the dim before the last.
  ir::ValueId gathered(ir::ValueId part, size_t rank) {
    std::vector<int64_t> order(rank);
    std::iota(order.begin(), order.end(), int64_t{0});
    std::swap(order[0], order[rank - 2]);
    return nodes_.add_transpose(nodes_.add_collective(nodes_.add_transpose(part, order), "all_gather"), order);
  }

  ir::ValueId turned(ir::ValueId keys, size_t rank) {
    std::vector<int64_t> order(rank);
    std::iota(order.begin(), order.end(), int64_t{0});
    std::swap(order[rank - 1], order[rank - 2]);
    return nodes_.add_transpose(keys, order);
  }

  // One after the other in their order: what is known of a layer's operands follows from those before it.
  void spell(ir::NodeId node) {
    check_operands(node);
    const ir::ValueId q = model_[node].operands[0].value;
    const ops::Type type = live_.now().type(q);
    check(node, type);
    const size_t rank = type.dims->size();
    ir::ValueId k = model_[node].operands[1].value;
    ir::ValueId v = model_[node].operands[2].value;
    nodes_.stand_before(node);
    if (number(node, kRanks, 1) > 1) {
      k = gathered(k, rank);
      v = gathered(v, rank);
    }
    const ir::ValueId factor = ir::add_initializer(edit_, {model_.main_graph(), ir::fresh_name(edit_, "scale"),
                                                           ops::make_rounded<double>(type.dtype, {}, {scale(node)})});
    const ir::ValueId made = nodes_.add_attention(q, turned(k, rank), v, factor);
    const ir::ValueId old = model_[node].results[0];
    nodes_.move_uses(old, made, surgery::readers_of(model_, old));
    edit_.erase(node);
  }

  ir::Model& model_;
  formats::ShardHints hints_;
  ir::Edit edit_;
  ops::LiveInference live_;
  surgery::ShardNodes nodes_;
};

}  // namespace

void spell_fused_attention(ir::Model& model, int64_t ranks) { FusedAttention(model, ranks).run(); }

}  // namespace assay::backends
