#include "runners/case_file.h"

#include <cmath>

#include <gtest/gtest.h>

#include "runners/case_model.h"
#include "runners/value_weakness.h"
#include "support/model_checks.h"
#include "tensor/casts.h"

namespace assay::cases {
namespace {

using testing_support::error_of;

const std::string kOp = "op Add @7..\n";

CaseFile parse(const std::string& text) { return parse_case_file("x.case", text); }

// The message of the Error; otherwise `no error`.
std::string fault(const std::string& text) {
  const std::optional<Error> error = error_of([&] {
    const CaseFile file = parse(text);
    for (const Case& item : file.cases) {
      for (const CaseRun& run : runs_of(file, item)) {
        build(run);
        for (const Output& output : item.outputs) make_value(expected_of(run, output)->value, run.scope);
      }
    }
  });
  return error ? error->line() : "no error";
}

tensor::Tensor value(const std::string& literal) {
  const CaseFile file = parse(kOp + "case a\n  X: " + literal + "\n  error \"e\"\n");
  return make_value(file.cases.at(0).inputs.at(0).value, Scope{}).tensor();
}

template <typename T>
std::vector<T> elements(const tensor::Tensor& tensor) {
  std::vector<T> values(tensor.count());
  tensor::load(tensor.dtype(), tensor.bytes(), 0, std::span<T>(values));
  return values;
}

std::vector<std::string> names(const std::string& text) {
  const CaseFile file = parse(text);
  std::vector<std::string> found;
  for (const Case& item : file.cases) {
    for (const CaseRun& run : runs_of(file, item)) found.push_back(run.name);
  }
  return found;
}

TEST(CaseFile, a_whole_case) {
  const CaseFile file = parse(
      "# comment\nop com.microsoft::Gelu @1\nfor T in f32 f16\ncase a.b tol=rel:1e-5,abs:1 constant-ok\n"
      "  X: T[2,1] = {1,-2.5}  const W: T = fill(3)\n  ?\n  axis=-1 mode=\"a\\\"b\" pads=[1,2]\n  to=T e=ints[]\n"
      "  Y: T[2] == by T f32 {1,2} from ort-1.31 f16 bits{0x1,0x2} from by-hand\n  ?\n  Z == seq(f32[1]{1}) from x\n"
      "skip openvino a.* because \"no\"");
  const Case& item = file.cases.at(0);
  EXPECT_EQ(item.name + "," + item.subject.domain + "," + item.subject.op, "a.b,com.microsoft,Gelu");
  EXPECT_EQ(item.tolerance->rel, 1e-5);
  EXPECT_EQ(item.tolerance->abs, 1);
  EXPECT_TRUE(item.is_constant_ok);
  ASSERT_EQ(item.inputs.size(), 3u);
  EXPECT_TRUE(item.inputs[1].is_constant);
  EXPECT_TRUE(item.inputs[2].name.empty());
  EXPECT_EQ(item.inputs[0].value.words, (std::vector<std::string>{"1", "-2.5"}));
  ASSERT_EQ(item.attributes.size(), 5u);
  EXPECT_EQ(item.attributes[1].text, "\"a\\\"b\"");
  EXPECT_EQ(item.attributes[2].text, "[1,2]");
  ASSERT_EQ(item.outputs.size(), 3u);
  EXPECT_EQ(item.outputs[0].expected.at(1).key, "f16");
  EXPECT_EQ(item.outputs[0].expected.at(1).source, "by-hand");
  EXPECT_EQ(file.skips.at(0).pattern, "a.*");
}

TEST(CaseFile, runs) {
  const std::string rest = "case a\n X: T[1]{1} Y: T[1] == {1} from x\n";
  EXPECT_EQ(names("op Add @7..13\nfor T in f32 i8\n" + rest),
            (std::vector<std::string>{"a:f32@7", "a:f32@13", "a:i8@7", "a:i8@13"}));
  EXPECT_EQ(names("op Add @7\nfor T in f32\nfor I in i32 i64\n" + rest), (std::vector<std::string>{"a:f32@7"}));
  EXPECT_EQ(names("op Add @7\ncase a\n X: f32{1} Y: f32 == {1} from x\n"), (std::vector<std::string>{"a@7"}));
}

TEST(CaseFile, values) {
  EXPECT_EQ(elements<double>(value("f16[3] = {1,inf,-0.5}")), (std::vector<double>{1, INFINITY, -0.5}));
  EXPECT_EQ(elements<double>(value("f32[3] = iota(1,0.5)")), (std::vector<double>{1, 1.5, 2}));
  EXPECT_EQ(elements<double>(value("f64[2]fill(7)")), (std::vector<double>{7, 7}));
  EXPECT_EQ(elements<double>(value("f32[2]")), (std::vector<double>{1, 1}));
  EXPECT_EQ(elements<double>(value("f8e4m3fn[2] = bits{0x38,0xB8}")), (std::vector<double>{1, -1}));
  EXPECT_EQ(elements<int64_t>(value("i4[3] = bits{0xF,0x1,0x8}")), (std::vector<int64_t>{-1, 1, -8}));
  EXPECT_EQ(elements<int64_t>(value("i64 = {-9223372036854775808}")), (std::vector<int64_t>{INT64_MIN}));
  EXPECT_EQ(elements<uint64_t>(value("u64[1] = {18446744073709551615}")), (std::vector<uint64_t>{UINT64_MAX}));
  EXPECT_EQ(elements<uint64_t>(value("bool[2] = {true,0}")), (std::vector<uint64_t>{1, 0}));
  EXPECT_EQ(value("str[2] = {\"a\\n\",\"\"}").strings()[0], "a\n");
  for (const int64_t number : elements<int64_t>(value("i8[50] = rand(1,-2,2)"))) EXPECT_LE(std::abs(number), 2);
  EXPECT_EQ(elements<double>(value("f32[2] = rand(7,-1,1)")), elements<double>(value("f32[2] = rand(7,-1,1)")));
}

// The first number of SplitMix64 with seed 0 is 0xE220A8397B1DCDAF.
TEST(CaseFile, random_numbers_are_splitmix64) {
  EXPECT_EQ(elements<double>(value("f64[1] = rand(0,0,1)")).at(0),
            static_cast<double>(0xE220A8397B1DCDAF >> 11) * 0x1p-53);
}

TEST(CaseFile, wrong_files_are_refused) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"case a", "x.case:1: a case before the line `op` or `graph` that it is about"},
      {"frog", "x.case:1: expected op, graph, for, skip or case, found `frog`"},
      {"op Add", "x.case:1: expected `@`, found the end"},
      {"op Add @x", "x.case:1: expected an integer, found `x`"},
      {"for T in\nop Add @7", "x.case:1: `for` without element types"},
      {"skip ref a* since", "x.case:1: expected `because`, found `since`"},
      {kOp + "case a\n  X: f32{1}\n", "x.case:2: case `a` needs expected outputs or an error, and not both"},
      {kOp + "case a tol=2\n", "x.case:2: expected ulp:N, rel:X, abs:X or bits, found `2`"},
      {kOp + "case a tol=ulp:-1\n", "x.case:2: a tolerance is negative or not finite"},
      {kOp + "case a slow\n", "x.case:2: expected tol=… or constant-ok, found `slow`"},
      {kOp + "case a\n  X: f32[2\n", "x.case:3: expected `,` or `]`, found the end"},
      {kOp + "case a\n  X: f32[-1]\n", "x.case:3: a dim is negative"},
      {kOp + "case a\n  X: f32[1] = fill(1,2)\n", "x.case:3: fill takes 1 arguments, found 2"},
      {kOp + "case a\n  X: f32[1] = {one}\n", "x.case:3: expected a number, found `one}`"},
      {kOp + "case a\n  X: f32[1] = bits{7}\n", "x.case:3: expected bits as 0x7c01, found `7}`"},
      {kOp + "case a\n  X: str = {\"a\n\"}", "x.case:3: a text in quotes does not end on its line"},
      {kOp + "case a\n  g=\"\"\"x", "x.case:3: a text in triple quotes does not end"},
      {kOp + "case a\n  Y: f32 == {1}\n",
       "x.case:3: expected `from` and who says so: by-hand, ort-1.31, onnx-ref-1.23, "
       "found the end"},
      {kOp + "case a\n  Y: f32 == by T f32 {1} from x\n", "x.case:3: `by` names no variable of a line `for`"},
      {kOp + "for T in f32 f16\ncase a\n  Y: T == by T f16 {1} from x\n",
       "x.case:4: expected `f32`, as `for` says, found `f16`"},
      {kOp + "case a\n  Y: f32 == {1} from x  X: f32{1}\n",
       "x.case:3: expected `==`: inputs stand before outputs, found the end"},
      {kOp + "case a\n  const axis=1", "x.case:3: `const` stands before an input, `const W: f32[2] = …`"},
      {kOp + "case a\n  S: seq()", "x.case:3: an empty sequence needs a type, as in `seq(f32)`"},
  };
  for (const auto& [text, expected] : faults) EXPECT_EQ(fault(text), expected) << text;
}

TEST(CaseFile, wrong_values_are_refused) {
  const auto of = [](const std::string& items) { return fault(kOp + "case a\n" + items + "\n  error \"e\"\n"); };
  EXPECT_EQ(of("  X: f31"), "x.case:3: `f31` is no element type");
  EXPECT_EQ(of("  X: f32[3] = {1,2}"), "x.case:3: the dims need 3 elements, found 2");
  EXPECT_EQ(of("  X: f32[100000,100000]"), "x.case:3: the dims are too large");
  EXPECT_EQ(of("  X: i8[1] = {200}"), "x.case:3: an element does not fit int8");
  EXPECT_EQ(of("  X: i8[1] = {1.5}"), "x.case:3: `1.5` is no int8");
  EXPECT_EQ(of("  X: f16[1] = bits{0x12345}"), "x.case:3: 0x12345 does not fit 16 bits");
  EXPECT_EQ(of("  X: str = iota(0,1)"), "x.case:3: strings are written as {\"…\"} or fill(\"…\")");
  EXPECT_EQ(of("  const X: seq(f32{1})"), "x.case:3: a constant must be a tensor");
  EXPECT_NE(of("  X: f32  body=\"\"\"g (\"\"\"").find("x.case:2: "), std::string::npos);
}

TEST(CaseFile, a_second_case_of_one_name_is_refused) {
  const std::string item = "case a\n X: f32{1} error \"e\"\n";
  EXPECT_EQ(fault(kOp + item + item), "x.case:4: a second case `a`");
}

TEST(CaseFile, expected_outputs_must_say_something) {
  EXPECT_EQ(weakness(value("f32[5] = {0,0,1,2,3}")), "2 of 5 elements of the expected output are zeros");
  EXPECT_EQ(weakness(value("i32[5] = fill(3)")), "all elements of the expected output are alike");
  EXPECT_EQ(weakness(value("f32[4] = fill(0)")), "");
  EXPECT_EQ(weakness(value("bool[5] = {0,0,0,1,0}")), "");
  EXPECT_EQ(weakness(value("f32[5] = iota(1,1)")), "");
}

TEST(CaseFile, model_of_one_node) {
  const CaseFile file = parse(
      "op Pad @13\ncase a\n  X: f32[2]{1,2}  const P: i64[2]{1,1}  ?\n  value=f32[1]{5} to=f16\n  Y: f32[4] == "
      "{0,1,2,0} from x\n");
  const BuiltCase built = build(runs_of(file, file.cases[0]).at(0));
  const ir::Model& model = built.model;
  ir::check_structure(model);
  const ir::Graph& graph = model[model.main_graph()];
  const ir::Node& node = model[graph.first];
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.initializers.size(), 1u);
  ASSERT_EQ(node.operands.size(), 3u);
  EXPECT_FALSE(node.operands[2].value.valid());
  EXPECT_EQ(model.find_attribute(node, "to")->integer(), 10);
  EXPECT_EQ(model[model.find_attribute(node, "value")->tensors()[0]].tensor.count(), 1u);
  EXPECT_EQ(model.header().opset_imports.at(0).version, 13);
  EXPECT_EQ(built.feeds.at(0).name, "X");
}

}  // namespace
}  // namespace assay::cases
