#include "ops/kernels/elements/type_union.h"
#include "ops/kernels/movement/stack.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

Type element_of(const Type& sequence) { return sequence.element ? *sequence.element : Type(); }

// A place in a sequence of `size` items, counted from the end where negative; `limit` is the largest that is allowed.
size_t place_in(int64_t position, size_t size, size_t limit) {
  const auto length = static_cast<int64_t>(size);
  if (position < -length || position > static_cast<int64_t>(limit)) {
    fail(ErrorCode::shape, "position {} is out of range for a sequence of {} items", position, length);
  }
  return static_cast<size_t>(position < 0 ? position + length : position);
}

const std::vector<Datum>& items_of(const Eval& node) {
  if (!node.has(0) || !node.datum(0).is_sequence()) fail(ErrorCode::shape, "input 0 is not a sequence");
  return node.datum(0).items();
}

void infer_construct(Infer& node) {
  Type element = node.type(0);
  for (uint32_t i = 1; i < node.input_count(); ++i) element = type_union(element, node.type(i));
  node.set_type(0, Type::sequence(element));
}

void eval_construct(Eval& node) {
  std::vector<Datum> items;
  for (uint32_t i = 0; i < node.input_count(); ++i) items.push_back(node.datum(i));
  node.set(0, Datum::sequence(std::move(items)));
}

void infer_empty(Infer& node) {
  node.set_type(0, Type::sequence(Type::tensor(static_cast<DType>(node.integer("dtype", 1)))));
}

void eval_empty(Eval& node) { node.set(0, Datum::sequence({})); }

void infer_at(Infer& node) {
  if (node.type(0).known) node.set_type(0, element_of(node.type(0)));
}

void eval_at(Eval& node) {
  const std::vector<Datum>& items = items_of(node);
  const int64_t position = node.scalar<int64_t>(1, 0);
  if (items.empty()) fail(ErrorCode::shape, "position {} of an empty sequence", position);
  node.set(0, items[place_in(position, items.size(), items.size() - 1)]);
}

void infer_insert(Infer& node) {
  const Type element = element_of(node.type(0));
  node.set_type(0, Type::sequence(element.known ? type_union(element, node.type(1)) : node.type(1)));
}

void eval_insert(Eval& node) {
  std::vector<Datum> items = items_of(node);
  const auto end = static_cast<int64_t>(items.size());
  const size_t place = place_in(node.scalar<int64_t>(2, end), items.size(), items.size());
  items.insert(items.begin() + static_cast<ptrdiff_t>(place), node.datum(1));
  node.set(0, Datum::sequence(std::move(items)));
}

void infer_erase(Infer& node) { node.set_type(0, node.type(0)); }

void eval_erase(Eval& node) {
  std::vector<Datum> items = items_of(node);
  const int64_t position = node.scalar<int64_t>(1, -1);
  if (items.empty()) fail(ErrorCode::shape, "position {} of an empty sequence", position);
  items.erase(items.begin() + static_cast<ptrdiff_t>(place_in(position, items.size(), items.size() - 1)));
  node.set(0, Datum::sequence(std::move(items)));
}

void infer_length(Infer& node) {
  node.set_dtype(0, DType::int64);
  node.set_dims(0, {});
}

void eval_length(Eval& node) { node.store(0, std::vector<int64_t>{static_cast<int64_t>(items_of(node).size())}); }

}  // namespace

OperatorRows operator_sequence_sequence() {
  static constexpr Traits kContainer = {Nature::container, {.indices = {1}}};
  static constexpr Operator kRows[] = {
      {.name = "SequenceConstruct",
       .since = 11,
       .traits = {Nature::container},
       .infer = infer_construct,
       .eval = eval_construct},
      {.name = "SequenceEmpty", .since = 11, .traits = {Nature::container}, .infer = infer_empty, .eval = eval_empty},
      {.name = "SequenceAt", .since = 11, .traits = kContainer, .infer = infer_at, .eval = eval_at},
      {.name = "SequenceInsert",
       .since = 11,
       .traits = {Nature::container, {.indices = {2}}},
       .infer = infer_insert,
       .eval = eval_insert},
      {.name = "SequenceErase", .since = 11, .traits = kContainer, .infer = infer_erase, .eval = eval_erase},
      {.name = "SequenceLength",
       .since = 11,
       .traits = {Nature::container},
       .infer = infer_length,
       .eval = eval_length},
  };
  return kRows;
}

}  // namespace assay::ops
