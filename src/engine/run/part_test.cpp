#include "engine/program/part.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/stop.h"
#include "ir/edit.h"
#include "support/engine_run.h"
#include "tensor/derived.h"

namespace assay::engine {
namespace {

using tensor::Datum;
using Numbers = std::vector<double>;

// One program that runs again and again, beside the reference on the model as it was.
class Lowered {
 public:
  explicit Lowered(const std::string& text, ProgramOptions options = {}, const std::string& kept = {})
      : source_(testing_support::parsed(text)), model_(source_.copy()), device_(cpu::make_device({})) {
    ir::Rewriter rewriter(model_);
    lower(model_, rewriter);
    if (!kept.empty()) options.kept = {testing_support::value_named(model_, kept)};
    program_.emplace(model_, Devices(*device_), options);
    context_.emplace(*program_, ops::InterpreterOptions(), false);
  }

  const Program& program() const { return *program_; }
  const ir::Model& model() const { return model_; }
  std::vector<std::string> tactics() const {
    std::vector<std::string> found;
    for (const Step& step : program_->steps()) found.push_back(step.tactic);
    return found;
  }
  std::vector<Numbers> run(const std::vector<Datum>& inputs) { return run(*context_, inputs); }
  std::vector<Numbers> run(Context& context, const std::vector<Datum>& inputs) const {
    const std::vector<ir::ValueId> wanted = testing_support::outputs_of(model_);
    return collect(wanted, [&](ops::ValueSink sink) { context.run(bound(inputs, model_), wanted, sink); });
  }
  std::vector<Numbers> expected(const std::vector<Datum>& inputs) const {
    const std::vector<ir::ValueId> wanted = testing_support::outputs_of(source_);
    return collect(
        wanted, [&](ops::ValueSink sink) { ops::Interpreter(source_, {}).run(bound(inputs, source_), wanted, sink); });
  }
  std::string difference(const std::vector<Datum>& inputs) {
    return testing_support::difference(run(inputs), expected(inputs), 1e-5);
  }

 private:
  static std::vector<ops::InputDatum> bound(const std::vector<Datum>& inputs, const ir::Model& model) {
    std::vector<ops::InputDatum> given;
    for (size_t i = 0; i < inputs.size(); ++i) given.push_back({model[model.main_graph()].inputs[i], inputs[i]});
    return given;
  }
  template <typename Fn>
  static std::vector<Numbers> collect(const std::vector<ir::ValueId>& wanted, Fn&& fn) {
    std::map<ir::ValueId, Numbers> found;
    fn([&](ir::ValueId value, const Datum& datum) { found[value] = tensor::load_elements<double>(datum.tensor()); });
    std::vector<Numbers> outputs;
    for (const ir::ValueId value : wanted) outputs.push_back(found.at(value));
    return outputs;
  }

  ir::Model source_;
  ir::Model model_;
  std::unique_ptr<Device> device_;
  std::optional<Program> program_;
  std::optional<Context> context_;
};

Datum floats(tensor::Shape shape) {
  Numbers numbers(*tensor::element_count(shape));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = testing_support::sine(i);
  return ops::make_rounded(tensor::DType::float32, std::move(shape), numbers);
}

Datum scalar(tensor::DType dtype, double number) { return ops::make_rounded(dtype, {}, Numbers{number}); }

// `count` of 64.
Datum chosen(size_t count) {
  Numbers numbers(64);
  std::fill_n(numbers.begin(), count, 1.0);
  return ops::make_rounded(tensor::DType::boolean, {64}, numbers);
}

std::string weights(const std::string& name, size_t rows, size_t columns) {
  std::string text = fmt::format("float[{},{}] {} = {{", rows, columns, name);
  for (size_t i = 0; i < rows * columns; ++i) text += fmt::format("{}{:.4f}", i == 0 ? "" : ",", std::sin(i * 0.7));
  return text + "}";
}

const std::string& w() {
  static const std::string text = weights("w", 32, 32);
  return text;
}

template <typename Fn>
std::string message(Fn&& run) {
  try {
    run();
    return "no error";
  } catch (const Error& error) {
    return error.line();
  }
}

constexpr std::string_view kOpset = "<ir_version: 8, opset_import: [\"\" : 17]> ";

std::string late_model() {
  return std::string(kOpset) + "g (float[64,32] x, bool[64] k) => (float[n,32] y) <" + w() +
         "> { p = Compress<axis = 0>(x, k) a = MatMul(p, w) b = Relu(a) y = Softmax(b) }";
}

TEST(Parts, WhatComesAfterSizesThatDataDecidesIsOne) {
  Lowered late(late_model());
  EXPECT_EQ(late.tactics(), (std::vector<std::string>{"reference", "part"}));
  for (const size_t count : {64, 16, 64, 17, 0, 1, 16}) {
    EXPECT_EQ(late.difference({floats({64, 32}), chosen(count)}), "") << count;
  }
}

// The reference rounds once what the engine adds in float32.
TEST(Parts, KernelsComputeThem) {
  Lowered late(late_model());
  const Part& part = *late.program().steps()[1].part;
  const PartShapes shapes = {{tensor::DType::float32, {16, 32}}};
  const auto planned = part.plan(shapes);
  ASSERT_NE(planned, nullptr);
  for (const Step& step : planned->program().steps()) EXPECT_NE(step.tactic, kReferenceTactic);
  EXPECT_EQ(part.plan(shapes), planned);
  const auto weights_of = [](const Program& program) {
    std::set<const void*> found;
    for (const Slot& slot : program.slots()) {
      if (slot.constant != nullptr) found.insert(slot.constant->storage().get());
    }
    return found;
  };
  EXPECT_EQ(weights_of(planned->program()), weights_of(late.program()));
}

// Constants that are made when they are asked for stay: other plans may read them in place.
TEST(Parts, LetGoOfNoConstantsOfOthers) {
  ir::Model model = testing_support::parsed(late_model());
  const ir::TensorId id = model[testing_support::value_named(model, "w")].constant;
  int made = 0;
  const auto fill = [&](std::span<std::byte> bytes) {
    ++made;
    std::ranges::fill(bytes, std::byte{0x3f});
  };
  ir::Edit(model).set_tensor(id, tensor::Tensor(tensor::DType::float32, {32, 32}, tensor::make_derived(4096, fill)));
  const std::unique_ptr<Device> device = cpu::make_device({});
  const Program program(model, Devices(*device), {});
  const auto planned = program.steps()[1].part->plan({{tensor::DType::float32, {16, 32}}});
  ASSERT_NE(planned, nullptr);
  const std::byte* const read = model[id].tensor.bytes().data();
  EXPECT_NE(program.steps()[1].part->plan({{tensor::DType::float32, {17, 32}}}), nullptr);
  EXPECT_EQ(model[id].tensor.bytes().data(), read);
  EXPECT_EQ(made, 1);
}

TEST(Parts, SizesThatAreNewAgainAndAgainHaveToBeWorthIt) {
  Lowered late(late_model());
  const Part& part = *late.program().steps()[1].part;
  const auto is_planned = [&](int64_t rows) { return part.plan({{tensor::DType::float32, {rows, 32}}}) != nullptr; };
  EXPECT_FALSE(is_planned(1));
  for (int64_t rows = 20; rows < 28; ++rows) EXPECT_TRUE(is_planned(rows)) << rows;
  EXPECT_FALSE(is_planned(40));
  EXPECT_TRUE(is_planned(20));
  EXPECT_TRUE(is_planned(40'000));
}

// What leaves a part and comes back is another one.
TEST(Parts, NothingLeavesAPartAndComesBack) {
  Lowered late(std::string(kOpset) + "g (float[64,32] x, bool[64] k) => (float[m,32] y, float[m,32] z) <" + w() +
               ", float zero = {0}> { p = Compress<axis = 0>(x, k) a = MatMul(p, w) s = ReduceSum<keepdims = 0>(a) "
               "t = ReduceMax<axes = [1], keepdims = 0>(a) e = Greater(t, zero) q = Compress<axis = 0>(a, e) "
               "r = MatMul(q, w) y = Tanh(r) z = Add(r, s) }");
  EXPECT_EQ(late.tactics(), (std::vector<std::string>{"reference", "part", "reference", "part"}));
  for (const size_t count : {20, 0, 64}) EXPECT_EQ(late.difference({floats({64, 32}), chosen(count)}), "") << count;
}

// Two that do not need each other are planned for their own sizes.
TEST(Parts, WhatIsNotConnectedIsNotOnePart) {
  Lowered late(std::string(kOpset) + "g (float[64,32] x, bool[64] k) => (float[m,32] y, float[n,32] z) <" + w() +
               "> { o = Not(k) p = Compress<axis = 0>(x, k) q = Compress<axis = 0>(x, o) a = MatMul(p, w) "
               "b = MatMul(q, w) y = Relu(a) z = Tanh(b) }");
  EXPECT_EQ(std::ranges::count(late.tactics(), "part"), 2);
  EXPECT_EQ(late.difference({floats({64, 32}), chosen(20)}), "");
}

TEST(Parts, ShapesThatAreComputedInsideAreKnown) {
  Lowered late(std::string(kOpset) + "g (float[64,32] x, bool[64] k) => (float[n,4,8] y) <" + w() +
               ", int64[1] first = {0}, int64[2] rest = {4,8}> { p = Compress<axis = 0>(x, k) a = MatMul(p, w) "
               "s = Shape(a) d = Gather(s, first) t = Concat<axis = 0>(d, rest) y = Reshape(a, t) }");
  EXPECT_EQ(late.tactics(), (std::vector<std::string>{"reference", "part"}));
  const auto planned = late.program().steps()[1].part->plan({{tensor::DType::float32, {20, 32}}});
  ASSERT_NE(planned, nullptr);
  for (const Step& step : planned->program().steps()) EXPECT_NE(step.tactic, kReferenceTactic);
  EXPECT_EQ(late.difference({floats({64, 32}), chosen(20)}), "");
}

TEST(Parts, HoldWhatFunctionsOfTheModelCompute) {
  Lowered late(
      "<ir_version: 8, opset_import: [\"\" : 17, \"own\" : 1]> g (float[64,32] x, bool[64] k) => "
      "(float[n,32] y) <" +
      w() +
      "> { p = Compress<axis = 0>(x, k) a = own.dense(p, w) y = Relu(a) } "
      "<domain: \"own\", opset_import: [\"\" : 17]> dense (i, v) => (r) { t = MatMul(i, v) r = Tanh(t) }");
  EXPECT_EQ(late.tactics(), (std::vector<std::string>{"reference", "part"}));
  EXPECT_EQ(late.difference({floats({64, 32}), chosen(20)}), "");
}

// What only data decides inside a part hides a part again.
TEST(Parts, ArePartsOfParts) {
  Lowered late(std::string(kOpset) + "g (float[64,32] x, bool[64] k) => (float[m,32] y) <" + w() +
               ", int64[1] first = {0}, float[1] half = {0.5}> { p = Compress<axis = 0>(x, k) a = MatMul(p, w) "
               "s = Shape(a) d = Gather(s, first) f = Cast<to = 1>(d) h = Mul(f, half) e = Cast<to = 7>(h) "
               "b = Slice(a, first, e) c = MatMul(b, w) y = Relu(c) }");
  EXPECT_EQ(late.tactics(), (std::vector<std::string>{"reference", "part"}));
  for (const size_t count : {40, 41, 0}) EXPECT_EQ(late.difference({floats({64, 32}), chosen(count)}), "") << count;
}

// Whatever is run before them, random nodes draw one after the other.
TEST(Parts, LeaveRandomNodesInTheirOrder) {
  Lowered late(std::string(kOpset) + "g (float[64,32] x, bool[64] k) => (float[n,32] y, float[64,32] z) <" + w() +
               "> { p = Compress<axis = 0>(x, k) a = MatMul(p, w) e = RandomNormalLike(a) y = Add(a, e) "
               "f = RandomNormalLike(x) z = Add(x, f) }");
  EXPECT_EQ(std::ranges::count(late.tactics(), "part"), 1);
  EXPECT_EQ(late.difference({floats({64, 32}), chosen(20)}), "");
}

TEST(Parts, GiveValuesThatAreKept) {
  Lowered late(late_model(), {}, "a");
  EXPECT_EQ(late.tactics(), (std::vector<std::string>{"reference", "part"}));
  EXPECT_TRUE(late.program().slot_of(testing_support::value_named(late.model(), "a")).has_value());
  EXPECT_FALSE(late.program().slot_of(testing_support::value_named(late.model(), "b")).has_value());
}

TEST(Parts, HaveNoTacticThatIsExcluded) {
  ProgramOptions options;
  options.tactics.excluded = {"product.tiles"};
  for (const bool excludes : {true, false}) {
    Lowered late(late_model(), excludes ? options : ProgramOptions());
    const auto planned = late.program().steps()[1].part->plan({{tensor::DType::float32, {20, 32}}});
    ASSERT_NE(planned, nullptr);
    const auto uses = [](const Step& step) { return step.tactic.starts_with("product.tiles"); };
    EXPECT_EQ(std::ranges::any_of(planned->program().steps(), uses), !excludes);
  }
}

TEST(Parts, NameTheNodeThatFails) {
  Lowered late(std::string(kOpset) + "g (float[64,32] x, bool[64] k, int64[1] i) => (float[1,32] y) <" + w() +
               "> { p = Compress<axis = 0>(x, k) a = MatMul(p, w) [taken] g = Gather(a, i) y = Relu(g) }");
  const std::vector<Datum> inputs = {floats({64, 32}), chosen(20),
                                     ops::make_rounded(tensor::DType::int64, {1}, Numbers{30})};
  const auto names_it = [](const std::string& line) { return line.find("node `taken` (Gather)") != std::string::npos; };
  EXPECT_PRED1(names_it, message([&] { late.expected(inputs); }));
  EXPECT_PRED1(names_it, message([&] { late.run(inputs); }));
}

TEST(Parts, RunInSeveralContextsAtOnce) {
  Lowered late(late_model());
  const auto run = [&](size_t first) {
    Context context(late.program(), {}, false);
    std::string found;
    for (size_t i = 0; i < 40; ++i) {
      const std::vector<Datum> inputs = {floats({64, 32}), chosen((first + i * 7) % 65)};
      found += testing_support::difference(late.run(context, inputs), late.expected(inputs), 1e-5);
    }
    return found;
  };
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < found.size(); ++i) threads.emplace_back([&, i] { found[i] = run(i * 11); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, std::vector<std::string>(4));
}

std::string loop_model(const std::string& body) {
  return std::string(kOpset) + "g (int64 n, float[32,32] x, bool c) => (float[32,32] y) <" + w() +
         ", bool on = {1}> { h = Abs(x) y = Loop(n, on, x) <body = again (int64 i, bool go, float[32,32] s) => "
         "(bool goes, float[32,32] r) { goes = Identity(go) " +
         body + " }> }";
}

// With what they take from outside, however often they run.
TEST(Parts, AreBodies) {
  for (const char* const body : {"t = MatMul(s, w) u = Tanh(t) r = Add(u, h)",
                                 "r = If(c) <then_branch = a () => (p) { m = MatMul(s, w) p = Tanh(m) }, "
                                 "else_branch = b () => (q) { l = MatMul(h, w) q = Softmax(l) }>",
                                 "t = MatMul(s, w) e = RandomNormalLike(t) u = Add(t, e) r = Sigmoid(u)"}) {
    Lowered loop(loop_model(body));
    EXPECT_FALSE(loop.program().bodies().empty());
    for (const double trips : {0, 1, 5}) {
      for (const double condition : {0, 1}) {
        EXPECT_EQ(loop.difference({scalar(tensor::DType::int64, trips), floats({32, 32}),
                                   scalar(tensor::DType::boolean, condition)}),
                  "")
            << body << " " << trips;
      }
    }
  }
}

// Kernels compute them: with a body of operators of which each has one, nothing is left to the reference.
TEST(Parts, OfBodiesAreComputedByKernels) {
  Lowered loop(loop_model("t = MatMul(s, w) r = Tanh(t)"));
  ASSERT_EQ(loop.program().bodies().size(), 1U);
  const Part& part = loop.program().bodies().begin()->second->part;
  const auto planned =
      part.plan({{tensor::DType::int64, {}}, {tensor::DType::boolean, {}}, {tensor::DType::float32, {32, 32}}});
  ASSERT_NE(planned, nullptr);
  for (const Step& step : planned->program().steps()) EXPECT_NE(step.tactic, kReferenceTactic);
}

TEST(Parts, OfBodiesWhoseSizesGrowAreBounded) {
  Lowered loop(std::string(kOpset) + "g (int64 n, float[1,32] x) => (float[m,32] y) <" + w() +
               ", bool on = {1}> { y = Loop(n, on, x) <body = again (int64 i, bool go, float[k,32] s) => "
               "(bool goes, float[l,32] r) { goes = Identity(go) t = MatMul(s, w) u = Tanh(t) "
               "r = Concat<axis = 0>(u, x) }> }");
  EXPECT_EQ(loop.difference({scalar(tensor::DType::int64, 50), floats({1, 32})}), "");
  const Part& part = loop.program().bodies().begin()->second->part;
  EXPECT_EQ(part.plan({{tensor::DType::int64, {}},
                       {tensor::DType::boolean, {}},
                       {tensor::DType::float32, {45, 32}},
                       {tensor::DType::float32, {1, 32}}}),
            nullptr);
}

TEST(Parts, OfScansGiveAllSteps) {
  Lowered scan(std::string(kOpset) + "g (float[32,32] x, float[5,32,32] v) => (float[32,32] y, float[5,32,32] z) <" +
               w() +
               "> { y, z = Scan<num_scan_inputs = 1, body = each (float[32,32] s, float[32,32] e) => "
               "(float[32,32] r, float[32,32] o) { t = MatMul(s, w) r = Tanh(t) o = MatMul(e, r) }>(x, v) }");
  EXPECT_EQ(scan.program().bodies().size(), 1U);
  EXPECT_EQ(scan.difference({floats({32, 32}), floats({5, 32, 32})}), "");
}

// What a loop in a body does counts together with what is around it.
TEST(Parts, KeepTheLimitsOfARun) {
  const std::string inner =
      "r = Loop(n, go, s) <body = deep (int64 j, bool gone, float[32,32] a) => (bool stays, float[32,32] b) "
      "{ stays = Identity(gone) d = MatMul(a, w) b = Tanh(d) }>";
  Lowered loop(loop_model(inner));
  const std::vector<Datum> inputs = {scalar(tensor::DType::int64, 5), floats({32, 32}),
                                     scalar(tensor::DType::boolean, 1)};
  EXPECT_EQ(loop.difference(inputs), "");
  Context enough(loop.program(), {.max_steps = 30}, false);
  EXPECT_NO_THROW(loop.run(enough, inputs));
  Context little(loop.program(), {.max_steps = 29}, false);
  EXPECT_THROW(loop.run(little, inputs), Error);
}

TEST(Parts, KeepTheLimitOfMemory) {
  Lowered late(std::string(kOpset) + "g (float[64,32] x, bool[64] k) => (float[n,32] y) <" + weights("v", 32, 256) +
               ", " + weights("u", 256, 32) +
               "> { p = Compress<axis = 0>(x, k) a = MatMul(p, v) b = Softmax(a) y = MatMul(b, u) }");
  const auto run = [&](uint64_t bytes) {
    Context context(late.program(), {.max_memory_bytes = bytes}, false);
    late.run(context, {floats({64, 32}), chosen(64)});
  };
  EXPECT_NO_THROW(run(1 << 20));
  EXPECT_NE(message([&] { run(40'000); }).find("the engine needs"), std::string::npos) << message([&] { run(40'000); });
}

TEST(Parts, OfBodiesStopWhenTheyAreTold) {
  Lowered loop(loop_model("t = MatMul(s, w) r = Tanh(t)"));
  std::stop_source stop;
  const StopScope scope(stop.get_token());
  std::thread other([&] { stop.request_stop(); });
  EXPECT_THROW(loop.run({scalar(tensor::DType::int64, 1e9), floats({32, 32}), scalar(tensor::DType::boolean, 1)}),
               Error);
  other.join();
}

}  // namespace
}  // namespace assay::engine
