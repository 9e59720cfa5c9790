#include <algorithm>

#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/movement/places.h"
#include "ops/kernels/text/regex.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr std::string_view kBlanks = " \t\n\r\f\v";

void eval_concat(Eval& node) {
  const Shape shape = node.out_shape(0);
  const std::vector<int64_t> left = broadcast_strides(node.shape(0), shape);
  const std::vector<int64_t> right = broadcast_strides(node.shape(1), shape);
  const std::span<const std::string> a = node.tensor_in(0).strings();
  const std::span<const std::string> b = node.tensor_in(1).strings();
  std::vector<std::string> joined(node.out_count(0));
  for (uint64_t i = 0; i < joined.size(); ++i) {
    joined[i] =
        a[static_cast<size_t>(strided_place(i, shape, left))] + b[static_cast<size_t>(strided_place(i, shape, right))];
  }
  node.store(0, std::move(joined));
}

void infer_split(Infer& node) {
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  node.set_dims(1, dims);
  dims.emplace_back();
  node.set_dims(0, std::move(dims));
}

// Between runs of blanks, those at the ends being left away; what remains after `most` cuts stays together.
std::vector<std::string> split_at_blanks(std::string_view text, uint64_t most) {
  std::vector<std::string> parts;
  text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  size_t at = text.find_first_not_of(kBlanks);
  while (at != std::string_view::npos) {
    const size_t end = parts.size() < most ? text.find_first_of(kBlanks, at) : std::string_view::npos;
    parts.emplace_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    at = end == std::string_view::npos ? end : text.find_first_not_of(kBlanks, end);
  }
  return parts;
}

std::vector<std::string> split_at(std::string_view text, std::string_view delimiter, uint64_t most) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = parts.size() < most ? text.find(delimiter) : std::string_view::npos;
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + delimiter.size());
  }
}

void eval_split(Eval& node) {
  const std::string_view delimiter = node.string("delimiter", "");
  const int64_t given = node.integer("maxsplit", INT64_MAX);
  const uint64_t most = given < 0 ? UINT64_MAX : static_cast<uint64_t>(given);
  std::vector<std::vector<std::string>> parts;
  std::vector<int64_t> counts;
  for (const std::string& text : node.tensor_in(0).strings()) {
    parts.push_back(delimiter.empty() ? split_at_blanks(text, most) : split_at(text, delimiter, most));
    counts.push_back(static_cast<int64_t>(parts.back().size()));
  }
  const auto longest = static_cast<size_t>(counts.empty() ? 0 : *std::ranges::max_element(counts));
  std::vector<std::string> all(parts.size() * longest);
  for (size_t i = 0; i < parts.size(); ++i) {
    std::ranges::move(parts[i], all.begin() + static_cast<ptrdiff_t>(i * longest));
  }
  Shape shape = node.shape(0);
  shape.push_back(static_cast<int64_t>(longest));
  node.store(0, std::move(shape), std::move(all));
  node.store(1, std::move(counts));
}

struct Pattern {
  explicit Pattern(const Node& node) : regex(node.string("pattern")) {}
  Regex regex;
};

void infer_regex(Infer& node) {
  node.read<Pattern>();
  infer_same_as_first(node);
}

void eval_regex(Eval& node) {
  const auto pattern = node.read<Pattern>();
  std::vector<uint64_t> matches;
  for (const std::string& text : node.tensor_in(0).strings()) matches.push_back(pattern->regex.matches_whole(text));
  node.store(0, std::move(matches));
}

}  // namespace

OperatorRows operator_text_strings() {
  static constexpr Operator kRows[] = {
      {.name = "StringConcat", .since = 20, .traits = {Nature::text}, .infer = infer_broadcast, .eval = eval_concat},
      {.name = "StringSplit", .since = 20, .traits = {Nature::text}, .infer = infer_split, .eval = eval_split},
      {.name = "RegexFullMatch", .since = 20, .traits = {Nature::text}, .infer = infer_regex, .eval = eval_regex},
  };
  return kRows;
}

}  // namespace assay::ops
