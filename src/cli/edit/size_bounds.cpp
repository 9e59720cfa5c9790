#include "cli/edit/size_bounds.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/groups/shape_inference.h"
#include "cli/options/values.h"
#include "inspect/unbounded_sizes.h"
#include "ops/inference.h"
#include "surgery/bound_sizes.h"
#include "surgery/names.h"

namespace assay::cli {
namespace {

constexpr std::string_view kOption = "--set-unbounded-dds-upper-bound";

std::vector<ir::ValueId> open_sizes(const ir::Model& model) {
  ops::Inference inference(model);
  inference.run();
  return inspect::unbounded_sizes(model, inference);
}

}  // namespace

std::vector<SizeBoundWord> parse_size_bounds(std::span<const std::string> words) {
  std::vector<SizeBoundWord> bounds;
  for (const std::string& word : words) {
    const KeyValue parts = split_key_value(word);
    const int64_t bound = parse_integer(kOption, parts.value);
    if (bound < 0) fail(ErrorCode::usage, "{}: expected a bound of at least 0, seen `{}`", kOption, printable(word));
    bounds.push_back({parts.key, bound});
  }
  return bounds;
}

void bound_sizes(std::span<const SizeBoundWord> words, EditJob& job) {
  if (words.empty()) return;
  infer_shapes(job.loaded());  // a bound has the type of its value
  const ir::Model& model = job.model();
  std::vector<ir::ValueId> open = open_sizes(job.model());
  std::vector<surgery::SizeBound> bounds;
  const surgery::NamedValues named(model);
  const auto is_new = [&](ir::ValueId value) {
    return std::ranges::none_of(bounds, [&](const surgery::SizeBound& item) { return item.value == value; });
  };
  std::optional<int64_t> for_all;
  for (const SizeBoundWord& word : words) {
    if (word.name.empty()) {
      for_all = word.bound;
      continue;
    }
    const ir::ValueId value = named[word.name];
    if (!is_new(value)) fail(ErrorCode::usage, "{}: `{}` is named twice", kOption, printable(word.name));
    if (std::ranges::find(open, value) == open.end()) {
      job.log().warning(fmt::format("`{}` is not known to need a bound; it gets one", printable(word.name)));
    }
    bounds.push_back({value, word.bound});
  }
  for (const ir::ValueId value : open) {
    const std::string name(model.text(model[value].name));
    if (!is_new(value)) continue;
    if (for_all) {
      bounds.push_back({value, *for_all});
    } else {
      job.skipped("bound", name, "no bound was given for it");
    }
  }
  std::vector<std::string> names;
  for (const surgery::SizeBound& item : bounds) names.emplace_back(model.text(model[item.value].name));
  surgery::bound_sizes(job.model(), bounds);
  for (size_t i = 0; i < bounds.size(); ++i) {
    job.changed("bound", names[i], fmt::format("at most {}", bounds[i].bound));
    job.log().info(fmt::format("Set the upper bound of `{}`: {}", printable(names[i]), bounds[i].bound));
  }
}

}  // namespace assay::cli
