#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "inspect/model_diff/parts.h"
#include "inspect/model_overview.h"

namespace assay::inspect {
namespace {

using ir::ValueId;

class WeightDiff {
 public:
  WeightDiff(const DiffContext& context, results::WeightDifferences& part) : context_(context), part_(part) {}

  void run() {
    for (uint32_t i = 0; i < context_.a.value_slots(); ++i) add_of_a(ValueId{i});
    for (uint32_t i = 0; i < context_.b.value_slots(); ++i) add_of_b(ValueId{i});
    std::ranges::stable_sort(part_.changed, std::greater(), size_of);
  }

 private:
  // Other types come first, then what no norm can tell, then the greatest relative distances.
  static double size_of(const results::WeightDifference& weight) {
    if (!weight.distance) return HUGE_VAL;
    const results::TensorDistance& distance = *weight.distance;
    const bool has_specials =
        distance.nan_count_before != distance.nan_count_after || distance.inf_count_before != distance.inf_count_after;
    return has_specials || !distance.numeric ? HUGE_VAL : distance.relative_norm;
  }

  static bool is_weight(const ir::Model& model, ValueId value) {
    return value && model[value].alive && model[value].constant;
  }

  void add_of_a(ValueId a) {
    if (!is_weight(context_.a, a)) return;
    const ValueId b = context_.matching.values_in_b[a.index];
    if (!is_weight(context_.b, b)) return part_.removed.push_back(value_info(context_.a, a));
    add_name(a, b);
    ++part_.compared_count;
    const std::variant<std::monostate, Error> done = attempt([&] {
      compare(a, b);
      return std::monostate{};
    });
    if (std::holds_alternative<Error>(done)) part_.unread.emplace_back(context_.a.text(context_.a[a].name));
  }

  void add_of_b(ValueId b) {
    if (!is_weight(context_.b, b)) return;
    if (!is_weight(context_.a, context_.matching.values_in_a[b.index]))
      part_.added.push_back(value_info(context_.b, b));
  }

  void add_name(ValueId a, ValueId b) {
    const std::string_view before = context_.a.text(context_.a[a].name);
    const std::string_view after = context_.b.text(context_.b[b].name);
    if (before != after) part_.renamed.push_back({std::string(before), std::string(after)});
  }

  void compare(ValueId a, ValueId b) {
    const ir::TensorEntry& entry_a = context_.a[context_.a[a].constant];
    const ir::TensorEntry& entry_b = context_.b[context_.b[b].constant];
    const bool same_type = same_tensor_type(entry_a, entry_b);
    if (same_type && same_elements(entry_a, entry_b)) return;
    results::WeightDifference difference = {value_info(context_.a, a), value_info(context_.b, b), {}, false};
    if (same_type) {
      difference.distance = tensor_distance(entry_a, entry_b, context_.options.tolerance);
      difference.within_tolerance = difference.distance->differing_count == 0;
    }
    part_.changed.push_back(std::move(difference));
  }

  const DiffContext& context_;
  results::WeightDifferences& part_;
};

}  // namespace

void diff_weights(const DiffContext& context, results::ModelDiff& diff) { WeightDiff(context, diff.weights).run(); }

}  // namespace assay::inspect
