#include "tensorflow/import/loop.h"

#include <algorithm>
#include <array>

#include "ir/queries.h"
#include "tensorflow/import/written_lists.h"

namespace assay::tensorflow {
namespace {

using tensor::DType;

constexpr int kMostRounds = 8;  // that types of states need until they stay

ir::ValueId shown(const Item& item) { return item.codes ? item.codes : item.value; }

Item item_of(ir::ValueId value) { return {.value = value, .codes = {}, .variable = {}}; }

// The value behind casts and reshapes of one number.
ir::ValueId origin(const ir::Model& model, ir::ValueId value) {
  ir::NodeId node = ir::producer(model, value);
  while (node &&
         (ir::is_op(model, node, "Cast") || ir::is_op(model, node, "Reshape") || ir::is_op(model, node, "Identity"))) {
    value = ir::operand(model, node, 0);
    node = ir::producer(model, value);
  }
  return value;
}

}  // namespace

Loop::Loop(Site& site)
    : site_(site),
      importer_(site.importer()),
      build_(site.build()),
      body_source_(importer_.function(site.text("body", ""))) {
  if (body_source_.outputs.size() < site.input_count() || body_source_.inputs.size() < site.input_count()) {
    fail(ErrorCode::parse, "its body has less arguments or results than it has states");
  }
  for (const Item& item : site.items()) states_.push_back({.before = item});
  for (size_t i = 0; i < states_.size(); ++i) states_[i].kind = kind_of(i);
}

Loop::Kind Loop::kind_of(size_t state) const {
  const Item& before = states_[state].before;
  if (!shown(before) && !before.list) return Kind::still;
  if (hands_on(body_source_, state)) return Kind::still;
  const SourceGraph& condition = importer_.function(site_.text("cond", ""));
  return before.list && is_written_only(body_source_, condition, state) ? Kind::collected : Kind::carried;
}

void Loop::make() {
  begin();
  const Builder::Draft draft = build_.draft();
  for (int round = 0; !fill(); ++round) {
    if (round == kMostRounds) fail(ErrorCode::unsupported, "the types of its states do not settle");
    build_.restore(draft);
  }
  give(finish());
}

// A node with a body that hands all on, so that the types of states are known while the body is made.
void Loop::begin() {
  body_ = build_.add_body("body");
  const auto input = [&](const std::string& name, ir::TypeId type) {
    return build_.edit().add_input(body_, build_.take_name(prefix() + "/" + name), type);
  };
  ir::Model& model = build_.model();
  input("iteration", model.types().tensor(DType::int64, {}));
  goes_on_ = input("condition", model.types().tensor(DType::boolean, {}));
  Values operands = {ir::ValueId(), ir::ValueId()};
  Values outputs = {goes_on_};
  for (State& state : states_) {
    if (state.kind != Kind::carried) continue;
    if (state.before.list) state.before.value = list_tensor(build_, state.before);
    state.inside = input("state", {});
    operands.push_back(shown(state.before));
    outputs.push_back(state.inside);
  }
  build_.edit().set_outputs(body_, outputs);
  const std::array attributes = {ir::Attribute::of(build_.edit().intern("body"), ir::AttributeType::graph, body_)};
  build_.add_many({"Loop", operands}, operands.size() - 2, attributes);
  provisional_ = build_.last_node();
}

bool Loop::fill() {
  const std::string before = types();
  Builder::Place outer = build_.begin_body(body_);
  const Values outputs = fill_once();
  const auto carried = std::ranges::count(states_, Kind::carried, &State::kind);
  build_.edit().set_outputs(body_, std::span(outputs).first(static_cast<size_t>(carried) + 1));
  const bool is_done = types() == before;
  if (is_done) {
    build_.edit().set_outputs(body_, outputs);
    build_.sweep(body_);
  }
  build_.end_body(std::move(outer));
  return is_done;
}

Values Loop::fill_once() {
  const std::vector<Item> inside = items_inside();
  std::vector<Item> next = importer_.call(site_.text("body", ""), inside, prefix() + "/body");
  next.resize(states_.size());
  for (size_t i = 0; i < next.size(); ++i) {
    if (states_[i].kind == Kind::still) next[i] = states_[i].before;
    states_[i].after_round = next[i];
  }
  find_bounds(tested(inside, prefix() + "/test"));
  std::vector<Item> outputs = {item_of(has_bounds_ ? goes_on_ : tested(next, prefix() + "/next"))};
  for (const State& state : states_) {
    if (state.kind == Kind::carried) outputs.push_back(state.after_round);
  }
  for (State& state : states_) {
    if (state.kind != Kind::collected) continue;
    const List& list = *state.after_round.list;
    outputs.push_back(item_of(list.written));
    state.has_places = list.index && !counts_rounds(list.index);
    if (state.has_places) outputs.push_back(item_of(list.index));
  }
  return importer_.body_outputs(body_, outputs);
}

std::vector<Item> Loop::items_inside() {
  std::vector<Item> items;
  for (const State& state : states_) items.push_back(item_inside(state));
  return items;
}

Item Loop::item_inside(const State& state) {
  Item inside = state.before;
  if (state.kind == Kind::collected) {
    inside.value = {};
    inside.list->is_collected = true;
  }
  if (state.kind == Kind::carried) {
    if (inside.list) return as_list(build_, state.inside);
    inside.value = state.inside;
    if (inside.codes) {
      inside.codes = state.inside;
      inside.value = dequantized(build_, state.inside, inside.declared->quantization);
    }
  }
  return inside;
}

ir::ValueId Loop::tested(const std::vector<Item>& states, const std::string& scope) {
  const std::vector<Item> given = importer_.call(site_.text("cond", ""), states, scope);
  if (given.empty() || !given.front().value) fail(ErrorCode::parse, "its condition gives nothing");
  return build_.reshape(given.front().value, {});
}

void Loop::find_bounds(ir::ValueId condition) {
  bounds_.clear();
  has_bounds_ = add_bounds(condition) && !bounds_.empty();
}

bool Loop::add_bounds(ir::ValueId condition) {
  const ir::Model& model = build_.model();
  condition = origin(model, condition);
  const ir::NodeId node = ir::producer(model, condition);
  if (!node) return false;
  ir::ValueId small = ir::operand(model, node, 0);
  ir::ValueId large = ir::operand(model, node, 1);
  if (ir::is_op(model, node, "And")) return add_bounds(small) && add_bounds(large);
  if (ir::is_op(model, node, "Greater"))
    std::swap(small, large);
  else if (!ir::is_op(model, node, "Less"))
    return false;
  const State* const state = counter(small);
  if (state == nullptr || !is_still(large)) return false;
  const tensor::Tensor* const constant = build_.constant_of(large);
  bounds_.push_back({shown(state->before), constant == nullptr ? large : build_.constant(*constant)});
  return true;
}

bool Loop::is_still(ir::ValueId value) const {
  return build_.constant_of(value) != nullptr || build_.model()[value].graph != body_;
}

// The state that a value is, if it is one more after each round.
const Loop::State* Loop::counter(ir::ValueId value) const {
  const ir::Model& model = build_.model();
  const ir::ValueId input = origin(model, value);
  const auto state = std::ranges::find(states_, input, &State::inside);
  if (!input || state == states_.end() || !tensor::is_integer(build_.dtype(input))) return nullptr;
  const ir::NodeId sum = ir::producer(model, origin(model, shown(state->after_round)));
  if (!sum || !ir::is_op(model, sum, "Add")) return nullptr;
  const ir::ValueId operands[] = {origin(model, ir::operand(model, sum, 0)), ir::operand(model, sum, 1),
                                  origin(model, ir::operand(model, sum, 1)), ir::operand(model, sum, 0)};
  for (const size_t i : {0, 2}) {
    if (operands[i] == input && build_.known_integers(operands[i + 1]) == Ints{1}) return &*state;
  }
  return nullptr;
}

bool Loop::counts_rounds(ir::ValueId index) const {
  const State* const state = counter(index);
  return state != nullptr && build_.known_integers(shown(state->before)) == Ints{0};
}

// The least of all bounds, from where the counters begin.
ir::ValueId Loop::trips() {
  std::optional<int64_t> known;
  Values values;
  for (const Bound& each : bounds_) {
    const std::optional<Ints> first = build_.known_integers(each.first);
    const std::optional<Ints> bound = build_.known_integers(each.bound);
    if (first && bound) {
      known = std::min(known.value_or(INT64_MAX), bound->front() - first->front());
      continue;
    }
    const auto number = [&](ir::ValueId value) { return build_.as_int64(build_.reshape(value, {})); };
    ir::ValueId trips = number(each.bound);
    if (first != Ints{0}) trips = build_.add({"Sub", {trips, number(each.first)}});
    const auto is_same = [&](ir::ValueId other) { return build_.are_equal(trips, other); };
    if (std::ranges::none_of(values, is_same)) values.push_back(trips);
  }
  if (values.empty()) return build_.integer(std::max<int64_t>(*known, 0));
  if (known) values.push_back(build_.integer(*known));
  const ir::ValueId least = values.size() == 1 ? values.front() : build_.add({"Min", values});
  return build_.is_size(least) ? least : build_.add({"Max", {least, build_.integer(0)}});
}

// The node with all results, behind what it needs.
Values Loop::finish() {
  std::vector<Item> before;
  Values operands = {ir::ValueId(), ir::ValueId()};
  for (const State& state : states_) {
    before.push_back(state.before);
    if (state.kind == Kind::carried) operands.push_back(shown(state.before));
  }
  if (has_bounds_)
    operands[0] = trips();
  else
    operands[1] = tested(before, prefix() + "/first");
  const std::array attributes = {ir::Attribute::of(build_.edit().intern("body"), ir::AttributeType::graph, body_)};
  const size_t count = build_.model().outputs(body_).size() - 1;
  const Values results = build_.add_many({"Loop", operands}, count, attributes);
  build_.edit().set_attributes(provisional_, {});  // the body belongs to the other node now
  build_.edit().erase(provisional_);
  return results;
}

void Loop::give(const Values& results) {
  size_t next = 0;
  for (State& state : states_) {
    if (state.kind == Kind::carried) state.after_round = result(state, results[next++]);
  }
  for (State& state : states_) {
    if (state.kind != Kind::collected) continue;
    const bool is_added = !state.after_round.list->index;
    const ir::ValueId written = results[next++];
    const ir::ValueId places = state.has_places ? results[next++] : ir::ValueId();
    state.after_round =
        is_added ? with_added(build_, state.before, written) : with_written(build_, state.before, written, places);
  }
  for (size_t i = 0; i < states_.size(); ++i) {
    site_.give(i, states_[i].kind == Kind::still ? states_[i].before : states_[i].after_round);
  }
}

Item Loop::result(const State& state, ir::ValueId value) {
  if (state.before.list) return as_list(build_, value);
  Item item{.value = value, .codes = {}, .variable = {}, .declared = state.before.declared};
  if (state.before.codes) {
    item.codes = value;
    item.value = dequantized(build_, value, state.before.declared->quantization);
  }
  return item;
}

std::string Loop::types() const {
  std::string text;
  for (const State& state : states_) {
    if (state.kind == Kind::carried) text += build_.type_text(state.inside) + ";";
  }
  return text;
}

}  // namespace assay::tensorflow
