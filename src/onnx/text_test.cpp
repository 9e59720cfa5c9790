#include "onnx/text.h"

#include <bit>
#include <cmath>
#include <random>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/edit.h"
#include "ir/verify.h"
#include "tensor/casts.h"

namespace assay::onnx {
namespace {

using ir::AttributeType;
using ir::ValueId;

constexpr std::string_view kHeader = "<\n   ir_version: 10,\n   opset_import: [\"\" : 20]\n>\n";

ir::Model parse(std::string_view text) {
  Diagnostics findings;
  ir::Model model = parse_text(text, findings);
  ir::check_structure(model);
  return model;
}

std::string with_header(std::string_view text) { return fmt::format("{}{}", kHeader, text); }

// Prints what was parsed, without the header.
std::string reprint(std::string_view text) {
  const std::string printed = to_text(parse(with_header(text)));
  EXPECT_TRUE(printed.starts_with(kHeader)) << printed;
  EXPECT_EQ(to_text(parse(printed)), printed);
  return printed.substr(kHeader.size());
}

std::string error_of(std::string_view text) {
  Diagnostics findings;
  try {
    parse_text(text, findings);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse);
    return error.message();
  }
  return "no error";
}

std::vector<std::string> findings_of(std::string_view text) {
  Diagnostics findings;
  parse_text(text, findings);
  std::vector<std::string> codes;
  for (const Diagnostic& finding : findings.all()) codes.emplace_back(finding.code);
  return codes;
}

const ir::Attribute& first_attribute(const ir::Model& model) {
  return model[model[model.main_graph()].first].attributes[0];
}

ir::Model with_attribute(std::string_view attribute) {
  return parse(fmt::format("g (x) => (y) {{ y = Op <{}> (x) }}", attribute));
}

const tensor::Tensor& first_tensor(const ir::Model& model) {
  const ValueId value = model[model.main_graph()].initializers.at(0);
  return model[model[value].constant].tensor;
}

std::vector<double> elements_of(std::string_view initializer) {
  const ir::Model model = parse(fmt::format("g () => () <{}> {{}}", initializer));
  const tensor::Tensor& tensor = first_tensor(model);
  std::vector<double> values(tensor.count());
  tensor::load(tensor.dtype(), tensor.bytes(), 0, std::span(values));
  return values;
}

TEST(Text, header) {
  const ir::Model model = parse(
      "<ir_version: 8, opset_import: [\"\" : 17, \"com.x\" : 1], producer_name: \"p\", producer_version: \"1\", "
      "domain: \"d\", model_version: -3, doc_string: \"a \\\"b\\\" \\\\\", metadata_props: [\"k\": \"v\", \"\": \"\"]>"
      "g () => () {}");
  const ir::Header& header = model.header();
  EXPECT_EQ(header.ir_version, 8);
  ASSERT_EQ(header.opset_imports.size(), 2u);
  EXPECT_EQ(model.text(header.opset_imports[1].domain), "com.x");
  EXPECT_EQ(header.opset_imports[0].version, 17);
  EXPECT_EQ(header.doc, "a \"b\" \\");
  EXPECT_EQ(header.metadata.size(), 2u);
  EXPECT_EQ(header.metadata[0].second, "v");
  EXPECT_EQ(to_text(parse(to_text(model))), to_text(model));
  EXPECT_NE(to_text(model).find("   model_version: -3,\n   doc_string: \"a \\\"b\\\" \\\\\",\n"), std::string::npos);
}

TEST(Text, no_header_and_no_graph) {
  EXPECT_EQ(parse("g () => () {}").header().ir_version, 0);
  EXPECT_EQ(to_text(ir::Model()), "<\n   ir_version: 0,\n   opset_import: []\n>\n\"\" () => () {\n}\n");
}

TEST(Text, graph) {
  EXPECT_EQ(reprint("g (float[N,3] x, c) => (float[?,3] y) <float[2] w = {1, -2.5}, int64[N] t>\n"
                    "{ # a comment\n [first] t, , u = com.x.Op:over <alpha: float = 1, k = [1, 2]> (x, \"\", w)\n"
                    "y = Add (t, u,) }"),
            "g (float[N,3] x, c) => (float[?,3] y) <\n"
            "   float[2] w = {1, -2.5},\n"
            "   int64[N] t\n"
            "> {\n"
            "   [first] t, \"\", u = com.x.Op:over <alpha: float = 1, k: ints = [1, 2]> (x, \"\", w)\n"
            "   y = Add (t, u)\n"
            "}\n");
}

TEST(Text, bodies_and_captures) {
  const std::string text =
      "g (c, x) => (y) {\n"
      "   y = If (c) <then_branch: graph = t () => (float a) {\n"
      "      a = Abs (x)\n"
      "   }, else_branch: graph = e () => (b) <\n"
      "      float s = {1}\n"
      "   > {\n"
      "      x = Neg (s)\n"
      "      b = Add (x, c)\n"
      "   }>\n"
      "}\n";
  EXPECT_EQ(reprint(text), text);
  const ir::Model model = parse(text);
  const ir::Node& node = model[model[model.main_graph()].first];
  const std::vector<ir::GraphId> bodies = model.bodies(node);
  ASSERT_EQ(bodies.size(), 2u);
  EXPECT_EQ(model[model[bodies[0]].first].operands[0].value, model[model.main_graph()].inputs[1]);
  EXPECT_EQ(model[model[bodies[1]].last].operands[0].value, model[model[bodies[1]].first].results[0]);
  EXPECT_EQ(model[bodies[1]].parent, model[model.main_graph()].first);
}

TEST(Text, functions) {
  const std::string text =
      "g (x) => (y) {\n   y = com.x.F (x)\n}\n"
      "<\n   opset_import: [\"\" : 20],\n   domain: \"com.x\",\n   overload: \"o\",\n   doc_string: \"d\"\n>\n"
      "F <a, b, k: int = 3> (float[N] x, z) => (int64 y) <\n   float t\n> {\n"
      "   t = Op <a: float = @a> (x, z)\n   y = Cast (t)\n}\n";
  EXPECT_EQ(reprint(text), text);
  const ir::Model model = parse(text);
  ASSERT_EQ(model.functions().size(), 1u);
  EXPECT_EQ(model.functions()[0].attribute_names.size(), 2u);
  EXPECT_EQ(model.functions()[0].attribute_defaults[0].integer(), 3);
}

TEST(Text, types_are_printed_as_read) {
  for (const std::string_view type : {"float",
                                      "float[]",
                                      "float[0]",
                                      "float16[N,?,3]",
                                      "string[\"a b\"]",
                                      "seq(float[])",
                                      "optional(seq(int64))",
                                      "map(int64, map(string, float[N]))",
                                      "sparse_tensor(float[3,?])",
                                      "sparse_tensor(int8)",
                                      "opaque()",
                                      "opaque(n)",
                                      "opaque(a.b,n)",
                                      "opaque(\"a b\",\"\")",
                                      "opaque(a,\"c.d\")",
                                      "dtype(77)[N]",
                                      "dtype(0)[]",
                                      "dtype(-1)",
                                      "float[N] @\"IMAGE\"",
                                      "seq(float[N] @\"a\\\"b\") @\"S\"",
                                      "seq()",
                                      "map(dtype(0), )",
                                      "float6e3m2[2]"}) {
    const std::string text = fmt::format("g ({} x) => () {{\n}}\n", type);
    EXPECT_EQ(reprint(text), text);
  }
  EXPECT_EQ(reprint("g (float [ N , -1 , \"\" ] x) => (x) {}"), "g (float[N,?,?] x) => (float[N,?,?] x) {\n}\n");
}

TEST(Text, names_that_are_not_identifiers_are_quoted) {
  const std::string text =
      "\"/g\" (\"a/b\", \"float\", \"nan\") => (\"\\\"\\\\\") {\n"
      "   [\"n 1\"] \"\\\"\\\\\" = \"my-domain\".\"aten::x\":\"o v\" <\"at/1\": int = 1> (\"a/b\", \"float\", "
      "\"\xff\")\n"
      "}\n";
  EXPECT_EQ(reprint(text), text);
  EXPECT_EQ(reprint("g (seq, map) => (inf_, _1) {}"), "g (\"seq\", \"map\") => (inf_, _1) {\n}\n");
}

TEST(Text, attributes_are_printed_with_their_types) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"a = 1", "a: int = 1"},
      {"a = -9223372036854775808", "a: int = -9223372036854775808"},
      {"a = 1.0", "a: float = 1"},
      {"a : float = 1", "a: float = 1"},
      {"a = 1.e-3", "a: float = 0.001"},
      {"a = 0.1", "a: float = 0.1"},
      {"a = -0.0", "a: float = -0"},
      {"a : float = -0", "a: float = -0"},
      {"a = 1e-60", "a: float = 0"},
      {"a = 1e-99999999999999999999", "a: float = 0"},
      {"a = 3.4028235e38", "a: float = 3.4028235e+38"},
      {"a = [Inf, -INFINITY, NaN, -nan]", "a: floats = [inf, -inf, nan, -nan]"},
      {"a = \"\"", "a: string = \"\""},
      {"a = \"\\n\\\"\\\\\"", "a: string = \"n\\\"\\\\\""},
      {"a = [\"x\", \"y\"]", "a: strings = [\"x\", \"y\"]"},
      {"a = [1.5, 2]", "a: floats = [1.5, 2]"},
      {"a: ints = []", "a: ints = []"},
      {"a: graphs = []", "a: graphs = []"},
      {"a = @b", "a = @b"},
      {"a: tensors = @\"b c\"", "a: tensors = @\"b c\""},
      {"a = float[2] {1, 2}", "a: tensor = float[2] {1, 2}"},
      {"a = float {1}", "a: tensor = float {1}"},
      {"a = int64[1] t {1}", "a: tensor = int64[1] t = {1}"},
      {"a = int64[1] \"t/1\" = {1}", "a: tensor = int64[1] \"t/1\" = {1}"},
      {"a = float[1] = [\"location\": \"w\"]", "a: tensor = float[1] = [\"location\": \"w\"]"},
      {"a = [float {1}, float[1] t {2}]", "a: tensors = [float {1}, float[1] t = {2}]"},
      {"a = seq(float[])", "a: type_proto = seq(float[])"},
      {"a = [float, int64[N]]", "a: type_protos = [float, int64[N]]"},
      {"a: type_proto = ?", "a: type_proto = ?"},
      {"a: undefined", "a: undefined"},
      {"a = sparse_tensor(float[9]) {float[1] {1}, int64[1] {5}}",
       "a: sparse_tensor = sparse_tensor(float[9]) {float[1] {1}, int64[1] {5}}"},
  };
  for (const auto& [text, printed] : cases) {
    EXPECT_EQ(reprint(fmt::format("g (x) => (y) {{ y = Op <{}> (x) }}", text)),
              fmt::format("g (x) => (y) {{\n   y = Op <{}> (x)\n}}\n", printed));
  }
}

TEST(Text, attribute_values) {
  EXPECT_EQ(first_attribute(with_attribute("a = [3, -4]")).integers()[1], -4);
  EXPECT_EQ(first_attribute(with_attribute("a = 0.1")).floating(), 0.1F);
  EXPECT_TRUE(std::signbit(first_attribute(with_attribute("a = -nan")).floating()));
  const ir::Model body = with_attribute("a = [\"b\" () => () {}, c () => () {}]");
  EXPECT_EQ(first_attribute(body).type(), AttributeType::graphs);
  EXPECT_EQ(body.bodies(body[body[body.main_graph()].first]).size(), 2u);
  const ir::Model string = with_attribute("a = \"\xff\xfe\"");
  EXPECT_EQ(string.text(first_attribute(string).string()), "\xff\xfe");
}

TEST(Text, attributes_stand_before_or_behind_the_operands) {
  EXPECT_EQ(reprint("g (x) => (y) { y = Op (x) <a = 1> }"), reprint("g (x) => (y) { y = Op <a = 1> (x) }"));
}

TEST(Text, operands_that_are_left_out) {
  EXPECT_EQ(reprint("g () => () { = Op () = Op (,) a = Op (,x) b,,c = Op (x,,) }"),
            "g () => () {\n   = Op ()\n   = Op (\"\")\n   a = Op (\"\", x)\n   b, \"\", c = Op (x, \"\")\n}\n");
}

TEST(Text, elements) {
  using Values = std::vector<double>;
  EXPECT_EQ(elements_of("float[2] x = {1, 0.1}"), (Values{1, 0.1F}));
  EXPECT_EQ(elements_of("double[2] x = {1e300, 0.1}"), (Values{1e300, 0.1}));
  EXPECT_EQ(elements_of("bool[2] x = {1, 0}"), (Values{1, 0}));
  EXPECT_EQ(elements_of("int8[2] x = {-128, 127}"), (Values{-128, 127}));
  EXPECT_EQ(elements_of("uint64[1] x = {18446744073709551615}"), (Values{0x1p64}));
  EXPECT_EQ(elements_of("uint64[1] x = {-0}"), (Values{0}));
  EXPECT_EQ(elements_of("float16[2] x = {1.5, 2}"), (Values{1.5, 2}));
  EXPECT_EQ(elements_of("float16[2] x = {15360, 16384}"), (Values{1, 2}));
  EXPECT_EQ(elements_of("bfloat16[1] x = {16256}"), (Values{1}));
  EXPECT_EQ(elements_of("float8e4m3fn[2] x = {56, 184}"), (Values{1, -1}));
  EXPECT_EQ(elements_of("float8e4m3fn[2] x = {inf, 1}"), (Values{448, 1}));
  EXPECT_EQ(elements_of("float6e2m3[5] x = {1, 2, 63, 32, 8}"), (Values{0.125, 0.25, -7.5, -0.0, 1}));
  EXPECT_EQ(elements_of("float4e2m1[3] x = {33, 3}"), (Values{0.5, 1, 1.5}));
  EXPECT_EQ(elements_of("float4e2m1[3] x = {1, 2, 3}"), (Values{0.5, 1, 1.5}));
  EXPECT_EQ(elements_of("float4e2m1[3] x = {1.0, 2, 3}"), (Values{1, 2, 3}));
  EXPECT_EQ(elements_of("int4[4] x = {33, 67}"), (Values{1, 2, 3, 4}));
  EXPECT_EQ(elements_of("int4[3] x = {-8, 7, -1}"), (Values{-8, 7, -1}));
  EXPECT_EQ(elements_of("int4[1] x = {15}"), (Values{-1}));
  EXPECT_EQ(elements_of("uint4[2] x = {15, 0}"), (Values{15, 0}));
  EXPECT_EQ(elements_of("int2[3] x = {-2, 1, 0}"), (Values{-2, 1, 0}));
  EXPECT_EQ(elements_of("uint2[5] x = {228, 1}"), (Values{0, 1, 2, 3, 1}));
  EXPECT_EQ(elements_of("float[2,0] x = {}"), Values());
}

TEST(Text, strings_and_complex_numbers) {
  const ir::Model strings = parse("g () => () <string[2] x = {\"\", \"a\\\"\"}> {}");
  EXPECT_EQ(first_tensor(strings).strings()[1], "a\"");
  const ir::Model complex = parse("g () => () <complex64[2] x = {1, 2, 3, -4}> {}");
  std::vector<std::complex<double>> values(2);
  tensor::load_complex(tensor::DType::complex64, first_tensor(complex).bytes(), 0, values);
  EXPECT_EQ(values[1], std::complex<double>(3, -4));
}

TEST(Text, initializers_of_inputs_are_their_defaults) {
  const std::string printed = reprint("g (float[2] x = {1, 2}, float[N] z) => () <float[1] z = {3}, float w = {4}> {}");
  EXPECT_EQ(
      printed,
      "g (float[2] x, float[N] z) => () <\n   float[2] x = {1, 2},\n   float[1] z = {3},\n   float w = {4}\n> {\n}\n");
  const ir::Model model = parse(printed);
  const ir::Graph& graph = model[model.main_graph()];
  EXPECT_EQ(graph.initializers.size(), 3u);
  EXPECT_TRUE(model[graph.inputs[1]].constant.valid());
  EXPECT_EQ(model[graph.initializers[1]].kind, ir::ValueKind::input);
}

TEST(Text, sparse_external_and_documented) {
  const std::string text =
      "g () => () <\n"
      "   doc_string: \"two\nlines\",\n"
      "   sparse_tensor(float[3,4]) s = {float[2] {1, 2}, int64[2,2] {0, 1, 2, 3}},\n"
      "   float[1000000000000] w = [\"location\": \"w.bin\", \"offset\": \"8\"],\n"
      "   float doc_string = {1}\n"
      "> {\n}\n";
  EXPECT_EQ(reprint(text), text);
  const ir::Model model = parse(text);
  const ir::TensorEntry& entry = model[model[model[model.main_graph()].initializers[1]].constant];
  EXPECT_EQ(entry.external_location, "w.bin");
  EXPECT_THROW(entry.tensor.bytes(), Error);
}

TEST(Text, large_tensors_are_left_out) {
  const ir::Model model =
      parse("g (x) => (y) <float[4] w = {1, 2, 3, 4}, float z> { z = Op <t = int8[3] {1, 2, 3}> (x) }");
  const std::string printed = to_text(model, {.most_elements = 2});
  EXPECT_EQ(printed.substr(printed.find("g (")),
            "g (x) => (y) <\n   float[4] w = {...}  # 4 elements left out\n   ,\n   float z\n> {\n"
            "   z = Op <t: tensor = int8[3] {...}  # 3 elements left out\n   > (x)\n}\n");
  EXPECT_EQ(error_of(printed),
            "line 6, column 18: expected the elements of a tensor, found `...`: they were left out in printing");
}

TEST(Text, fill_of_a_terabyte_is_left_out) {
  ir::Model model;
  ir::Edit edit(model);
  const ir::GraphId graph = edit.add_graph(edit.intern("g"));
  ir::TensorEntry entry;
  constexpr int64_t kCount = int64_t{1} << 40;
  entry.tensor = tensor::Tensor(tensor::DType::uint8, {kCount}, tensor::make_fill({std::byte{1}}, kCount));
  edit.add_initializer(graph, edit.intern("w"), edit.add_tensor(std::move(entry)));
  EXPECT_NE(to_text(model).find("uint8[1099511627776] w = {...}  # 1099511627776 elements left out"),
            std::string::npos);
}

TEST(Text, faults_of_the_graph_are_findings) {
  using Codes = std::vector<std::string>;
  EXPECT_EQ(findings_of("g (x) => (y) { y = Abs (x) }"), Codes());
  EXPECT_EQ(findings_of("g (x) => (y) { y = Abs (x) y = Neg (x) }"), Codes{"duplicate_name"});
  EXPECT_EQ(findings_of("g (x) => (y) { y = Abs (z) }"), Codes{"undefined_name"});
  EXPECT_EQ(findings_of("g (x) => (y) { y = Abs (z) z = Neg (x) }"), Codes{"not_sorted"});
  EXPECT_EQ(findings_of("g (x) => (y) { y = Abs (z) z = Neg (y) }"), Codes{"cycle"});
  EXPECT_EQ(findings_of("g (float x) => (y) <int64 y, float y> { y = Abs (x) }"), Codes{"type_conflict"});
  EXPECT_EQ(findings_of("g (c) => (y) { y = If (c) <t = b () => (z) {}> z = Abs (c) }"), Codes{"not_sorted"});
}

TEST(Text, a_name_means_the_first_definition_in_the_nearest_graph) {
  const ir::Model model =
      parse("g (x) => (y) { y = Abs (x) y = Neg (x) z = Op <b = b () => (y) { w = Abs (y) y = Op () }> () }");
  const ir::Node& first = model[model[model.main_graph()].first];
  EXPECT_EQ(model.outputs(model.main_graph())[0].value, first.results[0]);
  const ir::GraphId body = model.bodies(model[model[model.main_graph()].last])[0];
  EXPECT_EQ(model[model[body].first].operands[0].value, model[model[body].last].results[0]);
}

struct Malformed {
  std::string_view text;
  std::string_view message;
};

// Every place where a text can be wrong, with line and column.
constexpr Malformed kMalformed[] = {
    {"", "line 1, column 1: expected the name of a graph, found the end of the text"},
    {"# only this", "line 1, column 12: expected the name of a graph, found the end of the text"},
    {"<", "line 1, column 2: expected ir_version, opset_import or another field of a model, found the end of the text"},
    {"<>", "line 1, column 2: expected ir_version, opset_import or another field of a model, found `>`"},
    {"<ir_version 3>", "line 1, column 13: expected `:`, found `3`"},
    {"<ir_version: x>", "line 1, column 14: expected an integer, found `x`"},
    {"<ir_version: 1.5>",
     "line 1, column 14: expected an integer from -9223372036854775808 to 9223372036854775807, found `1.5`"},
    {"<irversion: 1>",
     "line 1, column 2: expected ir_version, opset_import, producer_name, producer_version, domain, model_version, "
     "doc_string or metadata_props, found `irversion`"},
    {"<opset_import: \"\">", "line 1, column 16: expected `[`, found `\"\"`"},
    {"<opset_import: [1]>", "line 1, column 17: expected a quoted domain, found `1`"},
    {"<opset_import: [\"\" : 1,]>", "line 1, column 24: expected a quoted domain, found `]`"},
    {"<producer_name: p>", "line 1, column 17: expected a quoted text, found `p`"},
    {"<metadata_props: [\"a\"]>", "line 1, column 22: expected `:`, found `]`"},
    {"<doc_string: \"abc>", "line 1, column 14: expected a `\"` that ends the text which begins here, found none"},
    {"<doc_string: \"abc\\\"", "line 1, column 14: expected a `\"` that ends the text which begins here, found none"},
    {"g (x) (y) {}", "line 1, column 7: expected `=>`, found `(`"},
    {"g (x) = > (y) {}", "line 1, column 7: expected `=>`, found `=`"},
    {"g (x) =>", "line 1, column 9: expected `(`, found the end of the text"},
    {"g (x,) => () {}", "line 1, column 6: expected a type or a name, found `)`"},
    {"g (x y) => () {}", "line 1, column 6: expected `)`, found `y`"},
    {"g (float) => () {}", "line 1, column 9: expected a name, found `)`"},
    {"g () => () {\n\n  y = Op (x}\n}", "line 3, column 12: expected `)`, found `}`"},
    {"g () => () {\n  \"\xc3\xbc\" y = Op (x)}", "line 2, column 7: expected `=`, found `y`"},
    {"g () => () { y = (x) }", "line 1, column 18: expected an operator, found `(`"},
    {"g () => () { y = a. (x) }", "line 1, column 21: expected an operator, found `(`"},
    {"g () => () { y = a: (x) }", "line 1, column 21: expected an overload, found `(`"},
    {"g () => () { y = Op <> (x) }", "line 1, column 22: expected the name of an attribute, found `>`"},
    {"g () => () { y = Op <a> (x) }", "line 1, column 23: expected `=`, found `>`"},
    {"g () => () { y = Op <a: x = 1> () }",
     "line 1, column 25: expected a type of attributes (int, floats, tensor, ...), found `x`"},
    {"g () => () { y = Op <a = > () }", "line 1, column 26: expected a value, found `>`"},
    {"g () => () { y = Op <a = -> () }", "line 1, column 26: expected a value, found `-`"},
    {"g () => () { y = Op <a = []> () }",
     "line 1, column 27: expected an item, or a type before the `=`, as in `axes: ints = []`, found `]`"},
    {"g () => () { y = Op <a: int = [1]> () }", "line 1, column 31: expected a value of type int, found `[`"},
    {"g () => () { y = Op <a: ints = 1> () }",
     "line 1, column 32: expected a value of type ints, found one of type int"},
    {"g () => () { y = Op <a: int = 1.5> () }",
     "line 1, column 31: expected a value of type int, found one of type float"},
    {"g () => () { y = Op <a = [1, 2.5]> () }",
     "line 1, column 30: expected a value of type int, found one of type float"},
    {"g () => () { y = Op <a = [1 2]> () }", "line 1, column 29: expected `,` or `]`, found `2`"},
    {"g () => () { y = Op <a = [@b]> () }", "line 1, column 27: expected an item, found `@`"},
    {"g () => () { y = Op <a = @\"\"> () }",
     "line 1, column 27: expected the name of an attribute, found an empty one"},
    {"g () => () { y = Op <a = 9223372036854775808> () }",
     "line 1, column 26: expected an integer from -9223372036854775808 to 9223372036854775807, found "
     "`9223372036854775808`"},
    {"g () => () { y = Op <a = -1e39> () }",
     "line 1, column 26: expected a number of at most 3.4028235e+38, found `-1e39`"},
    {"g () => () { y = Op <a = abc> () }", "line 1, column 29: expected `=>`, found `>`"},
    {"g () => () { y = Op <a = sparse_tensor(float[2]) {1}> () }", "line 1, column 51: expected a type, found `1`"},
    {"g (float[ x) => () {}", "line 1, column 12: expected `]`, found `)`"},
    {"g (float[,] x) => () {}", "line 1, column 10: expected a dim (a number, a name or `?`), found `,`"},
    {"g (float[9223372036854775808] x) => () {}",
     "line 1, column 10: expected an integer from -9223372036854775808 to 9223372036854775807, found "
     "`9223372036854775808`"},
    {"g (seq(foo) x) => () {}", "line 1, column 8: expected a type, found `foo`"},
    {"g (map(seq(float), float) x) => () {}", "line 1, column 8: expected a type, found `seq`"},
    {"g (dtype(2147483648) x) => () {}",
     "line 1, column 10: expected an integer from -2147483648 to 2147483647, found `2147483648`"},
    {"g (float @x y) => () {}", "line 1, column 11: expected a quoted denotation, found `x`"},
    {"g () => () <w = {1}> {}",
     "line 1, column 17: a tensor needs a type before its name, as in `float[2] x = {1, 2}`"},
    {"g () => () <seq(float) w = {1}> {}",
     "line 1, column 28: expected no content for a type that is not a tensor's, found `{`"},
    {"g () => () <float[] w = {1}> {}",
     "line 1, column 25: a tensor with content needs its dims; a scalar is written without brackets"},
    {"g () => () <float[N] w = {1}> {}", "line 1, column 26: the dims of a tensor with content must be numbers"},
    {"g () => () <dtype(77) w = {1}> {}", "line 1, column 27: elements of dtype(77) cannot be written as text"},
    {"g () => () <float[2] w = 1> {}", "line 1, column 26: expected `{`, found `1`"},
    {"g () => () <float[2] w = {1}> {}", "line 1, column 28: expected 2 elements, as the dims say, found 1"},
    {"g () => () <float[2] w = {1, 2, 3}> {}",
     "line 1, column 33: expected `}` after 2 elements, as the dims say, found `3`"},
    {"g () => () <float[2] w = {1 2}> {}", "line 1, column 29: expected `,` or `}`, found `2`"},
    {"g () => () <float[1] w = {x}> {}", "line 1, column 27: expected a number, found `x`"},
    {"g () => () <float[1] w = {.5}> {}", "line 1, column 27: expected a number, found `.`"},
    {"g () => () <float[1000000000000] w = {1}> {}",
     "line 1, column 40: expected 1000000000000 elements, as the dims say, found 1"},
    {"g () => () <float[9223372036854775807,9223372036854775807] w = {1}> {}",
     "line 1, column 64: the dims of the tensor are too large"},
    {"g () => () <int8[1] w = {128}> {}", "line 1, column 26: expected an integer from -128 to 127, found `128`"},
    {"g () => () <uint8[1] w = {-1}> {}", "line 1, column 27: expected an integer from 0 to 255, found `-1`"},
    {"g () => () <bool[1] w = {2}> {}", "line 1, column 26: expected an integer from 0 to 1, found `2`"},
    {"g () => () <uint64[1] w = {-1}> {}",
     "line 1, column 28: expected an integer from 0 to 18446744073709551615, found `-1`"},
    {"g () => () <float16[1] w = {65536}> {}", "line 1, column 29: expected an integer from 0 to 65535, found `65536`"},
    {"g () => () <int4[2] w = {1, 8}> {}", "line 1, column 29: expected an integer from -8 to 7, found `8`"},
    {"g () => () <int4[2] w = {1.5, 8}> {}", "line 1, column 26: expected an integer, found `1.5`"},
    {"g () => () <int4[5] w = {1, 2}> {}", "line 1, column 30: expected 5 elements, as the dims say, found 2"},
    {"g () => () <complex64[1] w = {1}> {}", "line 1, column 32: expected 2 elements, as the dims say, found 1"},
    {"g () => () <string[1] w = {a}> {}", "line 1, column 28: expected a quoted text, found `a`"},
    {"g () => () <string[1] w = [\"location\": \"a\"]> {}",
     "line 1, column 27: expected `{`, found `[`: strings, and dims that are too large, have no external data"},
    {"g () => () <float[1] w = [\"offset\": \"0\"]> {}",
     "line 1, column 26: expected external data with a \"location\", found none"},
    {"g () => () <sparse_tensor(float[2]) w = {int8[1] {1}, int64[1] {0}}> {}",
     "line 1, column 42: expected values of float, found int8"},
    {"g () => () {} <ir_version: 3> f () => () {}",
     "line 1, column 16: expected opset_import, domain, overload or doc_string, found `ir_version`"},
    {"g () => () {} f () => () <float w = {1}> {}", "line 1, column 35: expected `>`, found `=`"},
    {"g () => () {} }", "line 1, column 15: expected the name of a function, found `}`"},
};

TEST(Text, malformed_texts_are_errors_with_a_place) {
  for (const auto& [text, message] : kMalformed) EXPECT_EQ(error_of(text), message) << text;
}

TEST(Text, each_prefix_of_a_text_is_an_error_or_a_text) {
  const std::string text =
      to_text(parse("<ir_version: 8, opset_import: [\"\" : 17], metadata_props: [\"k\": \"v\"]> g (float[N,?] x, "
                    "seq(map(int64, float)) s)"
                    " => (y) <float16[2] w = {1.5, -nan}, string[1] t = {\"\\\"\"}> { y = If (x) <b = b () => (z) { z "
                    "= a.b.C <q: float ="
                    " @r, s = [1, 2]> (x) }> } <domain: \"d\"> f <a, k = 1> (float x) => (y) { y = Op (x) }"));
  for (size_t size = 0; size < text.size(); ++size) {
    const std::string error = error_of(text.substr(0, size));
    EXPECT_TRUE(error == "no error" || error.starts_with("line ")) << error;
  }
}

std::string repeated(std::string_view part, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += part;
  return text;
}

TEST(Text, deep_nesting_is_an_error) {
  constexpr size_t kMany = 1'000'000;
  EXPECT_EQ(error_of("g (" + repeated("seq(", kMany)), "line 1, column 400: it is nested more than 100 deep");
  for (const std::string_view part :
       {"(", "{", "[", "<", "g () => () { y = Op <a = ", "g () => () { y = Op <a = [", "map("}) {
    const std::string error = error_of("g () => () { y = Op <a = " + repeated(part, kMany));
    EXPECT_TRUE(error.starts_with("line 1, column ")) << error;
  }
  const std::string deep = "g () => () {" + repeated(" = Op <a = g () => () {", 98) + repeated("}> () ", 98) + "}";
  EXPECT_EQ(to_text(parse(deep)), to_text(parse(to_text(parse(deep)))));
  EXPECT_NE(error_of("g () => () {" + repeated(" = Op <a = g () => () {", 100)).find("nested more than 100"),
            std::string::npos);
}

// Names, numbers and shapes of random models; the seed is printed with a failure.
class RandomText {
 public:
  explicit RandomText(uint64_t seed) : random_(seed) {}

  std::string model() {
    std::string text = with_header("");
    text += graph("main", 3) + "\n";
    for (int i = below(3); i > 0; --i) {
      text += fmt::format("<domain: {}> {} <a, b: float = {}> (float x, y) => ({}) {}\n", quoted(), name(), number(),
                          name(), nodes(1));
    }
    return text;
  }

 private:
  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

  std::string quoted() {
    static constexpr std::string_view kParts[] = {"a",    "/",        "\\\"", "\\\\", " ",  "\n",
                                                  "\xff", "\xc3\xbc", ":",    "1",    "=>", "#"};
    std::string text = "\"";
    for (int i = below(6); i > 0; --i) text += kParts[below(std::size(kParts))];
    return text + "\"";
  }

  std::string name() {
    static constexpr std::string_view kNames[] = {"x", "y", "z", "w", "_1", "\"float\"", "\"nan\"", "doc_string"};
    return below(4) == 0 ? quoted() : std::string(kNames[below(std::size(kNames))]);
  }

  std::string number() {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random_()));
    return std::isnan(value) ? "nan" : fmt::format("{}", value);
  }

  std::string type(int depth) {
    static constexpr std::string_view kTypes[] = {
        "float",         "int4[]",       "string[N,?,\"a b\"]",    "float16[2,3]",
        "opaque(a.b,c)", "dtype(99)[N]", "sparse_tensor(bool[3])", "float[N] @\"D\""};
    const int kind = depth == 0 ? 0 : below(6);
    if (kind == 3) return fmt::format("seq({})", type(depth - 1));
    if (kind == 4) return fmt::format("map(string, {})", type(depth - 1));
    if (kind == 5) return fmt::format("optional({}) @{}", type(depth - 1), quoted());
    return std::string(kTypes[below(std::size(kTypes))]);
  }

  std::string tensor() {
    static constexpr std::string_view kTensors[] = {"int8[2] = {-1, 2}",
                                                    "uint64[1] = {18446744073709551615}",
                                                    "float16[2] = {1.5, 65504}",
                                                    "int4[3] = {-8, 7, 0}",
                                                    "string[2] = {\"\", \"\\\"\"}",
                                                    "complex64[1] = {1, -inf}",
                                                    "float8e5m2[2] = {255, 0}",
                                                    "double[0,3] = {}",
                                                    "float6e3m2[3] = {1, 2, 63}",
                                                    "bool = {1}",
                                                    "float[2] = [\"location\": \"w\", \"offset\": \"4\"]",
                                                    "sparse_tensor(int8[9]) = {int8[1] {3}, int64[1] {8}}"};
    if (below(3) > 0) return std::string(kTensors[below(std::size(kTensors))]);
    return fmt::format("float[3] = {{{}, {}, {}}}", number(), number(), number());
  }

  // A tensor with a name before its `=`.
  std::string named_tensor() {
    std::string text = tensor();
    return text.insert(text.find(" ="), " " + name());
  }

  std::string values(bool typed) {
    std::string text;
    for (int i = below(4); i > 0; --i) {
      text += (text.empty() ? "" : ", ") + (typed && below(2) == 0 ? type(2) + " " : "") + name();
    }
    return text;
  }

  std::string graph(std::string_view label, int depth) {
    std::string text = fmt::format("{} ({}) => ({}) <", label, values(true), values(true));
    const int count = below(4);
    for (int i = 0; i < count; ++i) text += (i ? ", " : "") + (below(2) ? named_tensor() : type(2) + " " + name());
    return text + "> " + nodes(depth);
  }

  std::string nodes(int depth) {
    std::string text = "{\n";
    for (int i = below(6); i > 0; --i) {
      text += fmt::format("[{}] {} = {}Op <k = 1, {} = {}> ({})\n", below(2) ? name() : "", values(false),
                          below(2) ? "a.b." : "", below(3) ? "v" : quoted(), value(depth), values(false));
    }
    return text + "}";
  }

  std::string value(int depth) {
    switch (below(9)) {
      case 0:
        return fmt::format("[{}, {}]", number(), number());
      case 1:
        return quoted();
      case 2:
        return fmt::format("[{}, {}]", quoted(), quoted());
      case 3:
        return named_tensor();
      case 4:
        return type(3);
      case 5:
        return fmt::format("[{}, {}]", below(1000), below(1000) - 500);
      case 6:
        return "@" + std::string("ref");
      case 7:
        return depth > 0 ? graph("body", depth - 1) : "1";
      default:
        return depth > 0 ? fmt::format("[{}, {}]", graph("a", 0), graph("\"b/c\"", depth - 1)) : "-7";
    }
  }

  std::mt19937_64 random_;
};

TEST(Text, printing_is_a_fixed_point) {
  const uint64_t first = std::random_device{}();
  int parsed = 0;
  for (uint64_t seed = first; seed < first + 3000; ++seed) {
    const std::string text = RandomText(seed).model();
    const std::string error = error_of(text);
    if (error != "no error") continue;
    ++parsed;
    const std::string printed = to_text(parse(text));
    ASSERT_EQ(to_text(parse(printed)), printed) << "seed " << seed;
  }
  EXPECT_GT(parsed, 1500);
}

TEST(Text, a_hundred_thousand_nodes_are_read_and_printed) {
  std::string text = "g (x0) => (x100000) {\n";
  for (int i = 0; i < 100'000; ++i) text += fmt::format("x{} = Add <a = {}> (x{}, x0)\n", i + 1, i, i);
  const ir::Model model = parse(text + "}");
  EXPECT_EQ(model[model.main_graph()].node_count, 100'000U);
  EXPECT_GT(to_text(model).size(), text.size());
}

}  // namespace
}  // namespace assay::onnx
