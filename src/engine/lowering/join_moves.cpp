#include "engine/lowering/join_moves.h"

#include <array>
#include <optional>
#include <vector>

#include "engine/layers/layer.h"
#include "engine/lowering/moved_dims.h"
#include "engine/lowering/moves.h"
#include "ir/queries.h"
#include "ops/traits.h"
#include "passes/pipelines.h"
#include "passes/rules.h"

namespace assay::engine {
namespace {

struct MovesContext {
  passes::PassRun& run;
  passes::Inferred inferred;
};

// The last of moves in a row.
void join(MovesContext& context, ir::NodeId node) {
  const ir::Model& model = context.run.model();
  const ir::ValueId result = ir::result(model, node);
  if (model[node].graph != model.main_graph()) return;
  const ir::NodeId user = only_user(model, result);
  if (user.valid() && is_move(model, user)) return;
  std::vector<ir::NodeId> moves = moved_value(model, ir::operand(model, node, 0)).moves;
  moves.insert(moves.begin(), node);
  if (moves.size() < 3) return;
  const std::optional<MovedDims> dims = follow_moves(context.run, context.inferred, moves);
  if (!dims || dims->node_count() >= moves.size()) return;
  ir::Patch patch;
  patch.replace(result, dims->add(context.run, patch, ir::operand(model, moves.back(), 0)));
  for (const ir::NodeId move : moves) patch.remove(move);
  context.run.rewriter().commit("{0} and the moves before it as one", patch);
}

}  // namespace

void join_moves(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {{{.name = "join-moves",
                                              .summary = "Reshapes and Transposes in a row as one of each",
                                              .pass_class = passes::PassClass::exact,
                                              .run = [](passes::PassRun& run) {
                                                MovesContext context{run, passes::Inferred(run)};
                                                const auto is_move = [](const ops::Traits& traits) {
                                                  return traits.is_reshape() || traits.moves == ops::Moves::by_dims;
                                                };
                                                passes::apply_rules(run, context,
                                                                    passes::rules_of<MovesContext>(is_move, join));
                                              }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
