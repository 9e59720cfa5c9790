#include "tasks/edit/size_bounds.h"

#include <algorithm>

#include "analysis/unbounded_sizes.h"
#include "base/error.h"
#include "base/text.h"
#include "ops/inference.h"
#include "surgery/bound_sizes.h"
#include "surgery/names.h"

namespace assay::tasks {
namespace {

std::vector<ir::ValueId> open_sizes(const ir::Model& model) {
  ops::Inference inference(model);
  inference.run();
  return analysis::unbounded_sizes(model, inference);
}

bool holds(std::span<const surgery::SizeBound> bounds, ir::ValueId value) {
  return std::ranges::any_of(bounds, [&](const surgery::SizeBound& item) { return item.value == value; });
}

// The bounds of the named values.
std::vector<surgery::SizeBound> named_bounds(std::span<const NamedSizeBound> asked,
                                             const std::vector<ir::ValueId>& open, EditJob& job) {
  std::vector<surgery::SizeBound> bounds;
  const surgery::NamedValues named(job.model());
  for (const NamedSizeBound& item : asked) {
    if (item.name.empty()) continue;
    const ir::ValueId value = named[item.name];
    if (holds(bounds, value)) {
      throw Error(ErrorCode::usage, fmt::format("`{}` is named twice", printable(item.name)))
          .about("set_unbounded_dds_upper_bound");
    }
    if (std::ranges::find(open, value) == open.end()) {
      job.observer().warning(fmt::format("`{}` is not known to need a bound; it gets one", printable(item.name)));
    }
    bounds.push_back({value, item.bound});
  }
  return bounds;
}

// The last one without a name.
std::optional<int64_t> bound_of_others(std::span<const NamedSizeBound> asked) {
  std::optional<int64_t> bound;
  for (const NamedSizeBound& item : asked) {
    if (item.name.empty()) bound = item.bound;
  }
  return bound;
}

}  // namespace

void bound_sizes(std::span<const NamedSizeBound> asked, EditJob& job) {
  if (asked.empty()) return;
  infer_shapes(job.loaded());  // a bound has the type of its value
  const ir::Model& model = job.model();
  const std::vector<ir::ValueId> open = open_sizes(job.model());
  std::vector<surgery::SizeBound> bounds = named_bounds(asked, open, job);
  const std::optional<int64_t> others = bound_of_others(asked);
  for (const ir::ValueId value : open) {
    if (holds(bounds, value)) continue;
    if (others)
      bounds.push_back({value, *others});
    else
      job.skipped("bound", std::string(model.text(model[value].name)), "no bound was given for it");
  }
  std::vector<std::string> names;
  for (const surgery::SizeBound& item : bounds) names.emplace_back(model.text(model[item.value].name));
  surgery::bound_sizes(job.model(), bounds);
  for (size_t i = 0; i < bounds.size(); ++i) {
    job.changed("bound", names[i], fmt::format("at most {}", bounds[i].bound));
    job.observer().info(fmt::format("Set the upper bound of `{}`: {}", printable(names[i]), bounds[i].bound));
  }
}

}  // namespace assay::tasks
