#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "engine/devices/cpu/recurrent/cell_kernels.h"
#include "support/engine_run.h"

namespace assay::engine::cpu {
namespace {

using testing_support::difference;
using testing_support::parsed;

double step_sine(size_t i) { return std::sin(1.7 * static_cast<double>(i) + 1); }

struct Size {
  int length, batch, input, hidden;
};
constexpr Size kSizes[] = {{1, 1, 1, 1}, {5, 1, 3, 7}, {4, 3, 33, 32}, {7, 9, 2, 40}, {3, 17, 16, 65}};

struct Operator {
  const char* name;
  int gates;
  int functions;
};
constexpr Operator kRnn = {"RNN", 1, 1};
constexpr Operator kGru = {"GRU", 3, 2};
constexpr Operator kLstm = {"LSTM", 4, 3};
constexpr Operator kOperators[] = {kRnn, kGru, kLstm};

std::string weights(const std::string& name, const std::vector<int>& dims, std::mt19937& random) {
  size_t count = 1;
  std::string shape;
  for (const int dim : dims) {
    count *= static_cast<size_t>(dim);
    shape += fmt::format("{}{}", shape.empty() ? "" : ",", dim);
  }
  std::uniform_real_distribution<float> number(-0.25F, 0.25F);
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{}{}", i == 0 ? "" : ",", number(random));
  return fmt::format("float[{}] {} = {{{}}}", shape, name, text);
}

// Which optional inputs and outputs a model has, and its attributes.
struct Form {
  std::string attributes;
  int directions = 1;
  bool has_all = false;      // bias, states, peepholes
  bool has_lengths = false;  // 0, 1, ... of the sequences
  bool is_batch_first = false;
  std::string outputs = "y, yh, yc";
};

std::string text_of(const Operator& op, const Size& s, const Form& form) {
  std::mt19937 random(7);
  const bool is_lstm = op.gates == 4;
  const int rows = op.gates * s.hidden;
  const std::string state = form.is_batch_first ? fmt::format("float[{},{},{}]", s.batch, form.directions, s.hidden)
                                                : fmt::format("float[{},{},{}]", form.directions, s.batch, s.hidden);
  const std::string x =
      form.is_batch_first ? fmt::format("{},{}", s.batch, s.length) : fmt::format("{},{}", s.length, s.batch);
  std::string inputs = form.has_lengths ? fmt::format("int32[{}] n, ", s.batch) : "";
  inputs += fmt::format("float[{},{}] x", x, s.input);
  std::string fixed = weights("w", {form.directions, rows, s.input}, random) + ", " +
                      weights("r", {form.directions, rows, s.hidden}, random);
  std::string operands = fmt::format("x, w, r, {}, {}", form.has_all ? "b" : "", form.has_lengths ? "n" : "");
  if (form.has_all) {
    inputs += fmt::format(", {} h", state) + (is_lstm ? fmt::format(", {} c", state) : "");
    fixed += ", " + weights("b", {form.directions, 2 * rows}, random);
    if (is_lstm) fixed += ", " + weights("p", {form.directions, 3 * s.hidden}, random);
    operands += is_lstm ? ", h, c, p" : ", h";
  }
  const std::string results = is_lstm ? form.outputs : form.outputs.substr(0, form.outputs.rfind(','));
  std::string declared;
  for (const char* const name : {"y", "yh", "yc"}) {
    const bool is_there = (", " + results + ",").find(fmt::format(" {},", name)) != std::string::npos;
    if (is_there) declared += fmt::format("{}float {}", declared.empty() ? "" : ", ", name);
  }
  return fmt::format(
      "<ir_version: 10, opset_import: [\"\" : 22]> g ({}) => ({}) <{}> {{ {} = {}<{}hidden_size = {}>({}) }}", inputs,
      declared, fixed, results, op.name, form.attributes, s.hidden, operands);
}

void expect_recurrent(const std::string& text, const std::function<double(size_t)>& number = step_sine,
                      double tolerance = 1e-5) {
  const ir::Model model = parsed(text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_EQ(run.tactics, std::vector<std::string>{"recurrent.panels"}) << text;
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), tolerance), "") << text;
}

std::string activations_of(const Operator& op, int directions, const char* const* names) {
  std::string list;
  for (int i = 0; i < op.functions * directions; ++i) list += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", names[i % 3]);
  return fmt::format("activations = [{}], ", list);
}

TEST(Recurrent, Plain) {
  for (const Operator& op : kOperators) {
    for (const Size& size : kSizes) expect_recurrent(text_of(op, size, {}));
  }
}

TEST(Recurrent, DirectionsLayoutsAndAllInputs) {
  for (const Operator& op : kOperators) {
    for (const Size& size : kSizes) {
      for (const bool is_batch_first : {false, true}) {
        const std::string layout = is_batch_first ? "layout = 1, " : "";
        for (const char* const direction : {"forward", "reverse", "bidirectional"}) {
          const int directions = direction[0] == 'b' ? 2 : 1;
          expect_recurrent(text_of(op, size,
                                   {.attributes = fmt::format("{}direction = \"{}\", ", layout, direction),
                                    .directions = directions,
                                    .has_all = true,
                                    .is_batch_first = is_batch_first}));
        }
      }
    }
  }
}

TEST(Recurrent, LengthsOfSequences) {
  for (const Operator& op : kOperators) {
    for (const Size& size : kSizes) {
      const auto number = [&](size_t i) {
        const auto batch = static_cast<size_t>(size.batch);
        return i < batch ? static_cast<double>((i + 1) % (static_cast<size_t>(size.length) + 1)) : step_sine(i);
      };
      for (const bool is_batch_first : {false, true}) {
        expect_recurrent(
            text_of(op, size,
                    {.attributes = fmt::format("direction = \"bidirectional\", layout = {}, ", is_batch_first ? 1 : 0),
                     .directions = 2,
                     .has_all = true,
                     .has_lengths = true,
                     .is_batch_first = is_batch_first}),
            number);
      }
    }
  }
}

TEST(Recurrent, AttributesOfOneOperator) {
  constexpr const char* kFunctions[] = {"TANH", "Relu", "Sigmoid"};
  for (const Size& size : kSizes) {
    for (const Operator& op : kOperators) {
      expect_recurrent(text_of(op, size, {.attributes = "clip = 0.25, ", .has_all = true}));
      expect_recurrent(text_of(op, size, {.attributes = activations_of(op, 1, kFunctions), .has_all = true}));
    }
    expect_recurrent(text_of(kRnn, size, {.attributes = "activations = [\"Relu\"], ", .has_all = true}));
    expect_recurrent(text_of(kGru, size, {.attributes = "linear_before_reset = 1, ", .has_all = true}));
    expect_recurrent(text_of(kGru, size, {.attributes = "linear_before_reset = 1, "}));
    expect_recurrent(text_of(kLstm, size, {.attributes = "input_forget = 1, ", .has_all = true}));
  }
}

TEST(Recurrent, OutputsThatAreLeftOut) {
  for (const char* const outputs : {"y", ", yh", ", , yc", "y, , yc"}) {
    expect_recurrent(text_of(kLstm, kSizes[2], {.outputs = outputs}));
  }
  for (const char* const outputs : {"y,", ", yh,"}) expect_recurrent(text_of(kGru, kSizes[2], {.outputs = outputs}));
}

TEST(Recurrent, WhatIsNoNumberStaysSo) {
  for (const Operator& op : kOperators) {
    for (const double special : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
      for (const char* const attributes : {"", "clip = 3.0, "}) {
        expect_recurrent(text_of(op, kSizes[1], {.attributes = attributes, .has_all = true}),
                         [&](size_t i) { return i == 4 ? special : step_sine(i); });
      }
    }
  }
}

TEST(Recurrent, LengthsOutOfRange) {
  for (const double length : {-1.0, 6.0}) {
    const ir::Model model = parsed(text_of(kGru, kSizes[1], {.has_lengths = true}));
    const auto number = [&](size_t i) { return i == 0 ? length : step_sine(i); };
    try {
      testing_support::run_on_engine(model, number);
      ADD_FAILURE() << "no error for length " << length;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), fmt::format("a sequence has length {}, X has 5 steps", length));
    }
  }
}

TEST(Recurrent, OtherFunctionsRunOnTheReference) {
  const ir::Model model = parsed(text_of(kRnn, kSizes[1], {.attributes = "activations = [\"Softsign\"], "}));
  EXPECT_EQ(testing_support::run_on_engine(model, step_sine).tactics, std::vector<std::string>{"reference"});
}

std::string codes(const std::string& type, const std::string& name, const std::vector<int>& dims,
                  std::pair<int, int> of) {
  std::string shape, text;
  int count = 1;
  for (const int dim : dims) {
    count *= dim;
    shape += fmt::format("{}{}", shape.empty() ? "" : ",", dim);
  }
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ",", of.first + i * 37 % (of.second - of.first));
  return fmt::format("{}[{}] {} = {{{}}}", type, shape, name, text);
}

struct Codes {
  std::string type;
  std::pair<int, int> range, zeros;
  bool by_column = false;
};

std::string coded_text(const Size& s, int directions, const Codes& of, bool has_lengths) {
  std::mt19937 random(7);
  const int rows = 4 * s.hidden;
  const std::vector<int> factors = of.by_column ? std::vector<int>{directions, rows} : std::vector<int>{directions};
  const auto scales = [&](const std::string& name) {
    std::string text;
    const int count = of.by_column ? directions * rows : directions;
    for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i == 0 ? "" : ",", 0.002 + 0.0001 * (i % 7));
    return fmt::format("float[{}] {} = {{{}}}",
                       of.by_column ? fmt::format("{},{}", directions, rows) : fmt::format("{}", directions), name,
                       text);
  };
  const std::string fixed = codes(of.type, "w", {directions, s.input, rows}, of.range) + ", " +
                            codes(of.type, "r", {directions, s.hidden, rows}, of.range) + ", " +
                            weights("b", {directions, 2 * rows}, random) + ", " + scales("sw") + ", " + scales("sr") +
                            ", " + codes(of.type, "zw", factors, of.zeros) + ", " +
                            codes(of.type, "zr", factors, of.zeros);
  return fmt::format(
      "<ir_version: 10, opset_import: [\"\" : 22, \"com.microsoft\" : 1]> g ({}float[{},{},{}] x) => "
      "(float y, float yh, float yc) <{}> {{ y, yh, yc = com.microsoft.DynamicQuantizeLSTM<direction = \"{}\", "
      "hidden_size = {}>(x, w, r, b, {}, , , , sw, zw, sr, zr) }}",
      has_lengths ? fmt::format("int32[{}] n, ", s.batch) : "", s.length, s.batch, s.input, fixed,
      directions == 2 ? "bidirectional" : "reverse", s.hidden, has_lengths ? "n" : "");
}

// With a sign or without, with zero points that int8 holds beside the weights or not.
TEST(Recurrent, CodesThatAreMadeInEachStep) {
  constexpr double kCode = 5e-3;  // that falls to the other side
  const Codes kinds[] = {{"int8", {-127, 128}, {0, 1}, true},
                         {"int8", {-127, 128}, {-3, 4}, true},
                         {"uint8", {0, 256}, {128, 129}},
                         {"uint8", {0, 256}, {20, 250}, true}};
  for (const Codes& kind : kinds) {
    for (const Size& size : kSizes) {
      for (const int directions : {1, 2}) expect_recurrent(coded_text(size, directions, kind, false), step_sine, kCode);
      const auto lengths = [&](size_t i) {
        return i < static_cast<size_t>(size.batch) ? static_cast<double>(i % (static_cast<size_t>(size.length) + 1))
                                                   : step_sine(i);
      };
      expect_recurrent(coded_text(size, 2, kind, true), lengths, kCode);
    }
  }
}

// What the instruction sets compute differs by roundings only.
TEST(CellKernels, AreAlike) {
  constexpr size_t kWidth = 32;
  const std::span<const CellKernels* const> all = all_cell_kernels();
  const auto state_of = [&](const CellKernels& kernels) {
    std::vector<float> numbers(10 * kWidth);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(2 * step_sine(i));
    float* const at = numbers.data();
    const CellKind kind{{.functions = {CellFunction::sigmoid, CellFunction::tanh, CellFunction::relu}, .clip = 1.5F},
                        kWidth};
    const CellRow row{
        .gates = at, .own = at + 4 * kWidth, .peepholes = at + 5 * kWidth, .h = at + 8 * kWidth, .c = at + 9 * kWidth};
    kernels.lstm(kind, row);
    kernels.gru_gates(kind, row, at + 3 * kWidth);
    kernels.gru(kind, row);
    kernels.rnn(kind, {.gates = at + 2 * kWidth, .h = at + 2 * kWidth});
    return std::vector<double>(numbers.begin(), numbers.end());
  };
  for (size_t i = 1; i < all.size(); ++i)
    EXPECT_EQ(difference({state_of(*all[i])}, {state_of(*all[0])}, 1e-6), "") << i;
}

}  // namespace
}  // namespace assay::engine::cpu
