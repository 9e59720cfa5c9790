#include "match/models/interface.h"

#include <algorithm>

#include "inspect/model_diff/parts.h"
#include "inspect/model_overview.h"

namespace assay::inspect {
namespace {

using ir::ValueId;
using Pairs = std::vector<std::pair<size_t, size_t>>;

// One direction of the interface: the values of both sides and which of them correspond.
struct Ends {
  std::vector<ValueId> a;
  std::vector<ValueId> b;
  const Pairs& pairs;
};

std::string name(const ir::Model& model, ValueId value) { return std::string(model.text(model[value].name)); }

void add_unpaired(const DiffContext& context, const Ends& ends, results::InterfaceDifferences& part) {
  std::vector<bool> paired_a(ends.a.size());
  std::vector<bool> paired_b(ends.b.size());
  for (const auto& [i, j] : ends.pairs) paired_a[i] = paired_b[j] = true;
  for (size_t i = 0; i < ends.a.size(); ++i) {
    if (ends.a[i] && !paired_a[i]) part.removed.push_back(value_info(context.a, ends.a[i]));
  }
  for (size_t j = 0; j < ends.b.size(); ++j) {
    if (ends.b[j] && !paired_b[j]) part.added.push_back(value_info(context.b, ends.b[j]));
  }
}

void diff_ends(const DiffContext& context, const Ends& ends, results::InterfaceDifferences& part) {
  TypeComparison types(context);
  add_unpaired(context, ends, part);
  for (const auto& [i, j] : ends.pairs) {
    const ValueId a = ends.a[i];
    const ValueId b = ends.b[j];
    if (!types.same(context.a[a].type, context.b[b].type)) {
      part.changed.emplace_back(value_info(context.a, a), value_info(context.b, b));
    }
    if (name(context.a, a) != name(context.b, b)) part.renamed.push_back({name(context.a, a), name(context.b, b)});
    if (!correspond(context, a, b)) {
      part.rewired.push_back(
          {name(context.a, a), operand_text(context.a, a, true), operand_text(context.b, b, true), {}});
    }
  }
  Pairs sorted = ends.pairs;
  std::ranges::sort(sorted);
  part.reordered = !std::ranges::is_sorted(sorted, {}, &std::pair<size_t, size_t>::second);
}

}  // namespace

void diff_interfaces(const DiffContext& context, results::ModelDiff& diff) {
  diff_ends(context, {match::inputs_of(context.a), match::inputs_of(context.b), context.matching.inputs}, diff.inputs);
  diff_ends(context, {match::outputs_of(context.a), match::outputs_of(context.b), context.matching.outputs},
            diff.outputs);
}

}  // namespace assay::inspect
