#include "onnx/import.h"

#include <gtest/gtest.h>

#include "ir/edit.h"
#include "support/model_checks.h"

namespace assay::onnx {
namespace {

using namespace testing_support;
using tensor::DType;

Wire with_initializer(const Wire& item) { return model(graph({}).message(5, item)); }

const ir::TensorEntry& only_tensor(const ir::Model& model) {
  EXPECT_EQ(model.tensor_slots(), 1u);
  return model[ir::TensorId{0}];
}

ir::Attribute attribute_of(const ir::Model& model, std::string_view name) {
  const ir::Attribute* found = model.find_attribute(model[node_at(model, 0)], name);
  return found ? *found : ir::Attribute();
}

ir::Model with_attribute(const Wire& item) {
  return import_bytes(model(graph({node("Op", {"X"}, {"Y"}).message(5, item)})).bytes());
}

TEST(Import, header) {
  const Wire wire =
      Wire().integer(1, 8).text(2, "p").text(3, "v").text(4, "d").integer(5, -7).text(6, "doc").message(7, graph({}));
  const ir::Model loaded = import_bytes(
      Wire(wire).message(8, opset(17)).message(8, opset(2, "x")).message(14, Wire().text(1, "k").text(2, "v")).bytes());
  const ir::Header& header = loaded.header();
  EXPECT_EQ(header.ir_version, 8);
  EXPECT_EQ(header.producer_name + header.producer_version + header.domain + header.doc, "pvddoc");
  EXPECT_EQ(header.model_version, -7);
  ASSERT_EQ(header.opset_imports.size(), 2u);
  EXPECT_EQ(loaded.text(header.opset_imports[1].domain), "x");
  EXPECT_EQ(header.metadata, (std::vector<std::pair<std::string, std::string>>{{"k", "v"}}));
  EXPECT_FALSE(loaded.is_edited());
}

TEST(Import, every_dtype_in_raw_data) {
  for (int number = 1; number <= 28; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (dtype == DType::string) continue;
    const std::string data(tensor::packed_bytes(dtype, 3).value(), '\x12');
    const ir::Model loaded = import_bytes(with_initializer(raw_tensor("W", number, {3}, data)).bytes());
    const tensor::Tensor& seen = only_tensor(loaded).tensor;
    EXPECT_EQ(seen.dtype(), dtype);
    EXPECT_EQ(seen.bytes().size(), data.size());
    EXPECT_EQ(std::memcmp(seen.bytes().data(), data.data(), data.size()), 0);
  }
}

TEST(Import, raw_data_stays_in_the_file) {
  const std::shared_ptr<const MappedFile> file = mapped(with_initializer(raw_tensor("W", 1, {2}, "12345678")).bytes());
  Diagnostics findings;
  const ir::Model loaded = import_file(file, findings);
  const std::byte* data = only_tensor(loaded).tensor.bytes().data();
  EXPECT_TRUE(data > file->bytes().data() && data < file->bytes().data() + file->size());
}

// The typed field of each dtype, its entries and the packed bytes that they stand for.
struct TypedCase {
  int dtype;
  Wire data;
  int64_t count;
  std::string expected;
};

std::vector<TypedCase> typed_cases() {
  const auto ints = [](uint32_t field, std::vector<uint64_t> values) {
    Wire packed;
    for (const uint64_t value : values) packed.varint(value);
    return Wire().text(field, packed.bytes());
  };
  const auto minus = [](int64_t value) { return static_cast<uint64_t>(value); };
  return {
      {1, Wire().float32(4, 1).float32(4, 2), 2,
       Wire().fixed(std::bit_cast<uint32_t>(1.f)).fixed(std::bit_cast<uint32_t>(2.f)).bytes()},
      {1, Wire().text(4, "12345678"), 2, "12345678"},
      {2, ints(5, {1, 255}), 2, "\x01\xff"},
      {3, ints(5, {1, minus(-1)}), 2, "\x01\xff"},
      {4, ints(5, {0x1234}), 1, "\x34\x12"},
      {5, ints(5, {minus(-2)}), 1, "\xfe\xff"},
      {6, Wire().integer(5, -2), 1, "\xfe\xff\xff\xff"},
      {7, ints(7, {minus(-2)}), 1, "\xfe\xff\xff\xff\xff\xff\xff\xff"},
      {9, ints(5, {1, 1}), 2, "\x01\x01"},
      {10, ints(5, {0x3c01}), 1, "\x01\x3c"},
      {11, Wire().float64(10, 1.5), 1, Wire().fixed(std::bit_cast<uint64_t>(1.5)).bytes()},
      {12, ints(11, {0x01020304}), 1, "\x04\x03\x02\x01"},
      {13, ints(11, {0x0102030405060708}), 1, "\x08\x07\x06\x05\x04\x03\x02\x01"},
      {14, Wire().text(4, "12345678"), 1, "12345678"},
      {15, Wire().text(10, "1234567890abcdef"), 1, "1234567890abcdef"},
      {16, ints(5, {0x3f81}), 1, "\x81\x3f"},
      {17, ints(5, {0x7f}), 1, "\x7f"},
      {21, ints(5, {0x21, 0x03}), 3, "\x21\x03"},
      {22, ints(5, {0xf1}), 2, "\xf1"},
      {23, ints(5, {0x21}), 2, "\x21"},
      {24, ints(5, {0x80}), 1, "\x80"},
      {25, ints(5, {0xe4, 0x01}), 5, "\xe4\x01"},
      {27, ints(5, {1, 2, 3, 63}), 4, "\x81\x30\xfc"},
      {28, ints(5, {63}), 1, "\x3f"},
  };
}

TEST(Import, typed_data) {
  for (const TypedCase& item : typed_cases()) {
    const Wire wire = Wire().integer(1, item.count).integer(2, item.dtype).text(8, "W").raw(item.data.bytes());
    const ir::Model loaded = import_bytes(with_initializer(wire).bytes());
    const Bytes seen = only_tensor(loaded).tensor.bytes();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(seen.data()), seen.size()), item.expected) << item.dtype;
    EXPECT_EQ(only_tensor(loaded).tensor.size_bytes(), item.expected.size());
  }
}

TEST(Import, strings) {
  const Wire wire = Wire().integer(1, 2).integer(2, 8).text(6, "a").text(6, "").text(8, "W");
  const ir::Model loaded = import_bytes(with_initializer(wire).bytes());
  EXPECT_EQ(only_tensor(loaded).tensor.strings()[0], "a");
  EXPECT_EQ(only_tensor(loaded).tensor.strings()[1], "");
}

TEST(Import, unknown_dtypes_are_carried) {
  const ir::Model loaded = import_bytes(with_initializer(raw_tensor("W", 77, {3}, "opaque")).bytes());
  EXPECT_EQ(tensor::name(only_tensor(loaded).tensor.dtype()), "dtype(77)");
  EXPECT_EQ(only_tensor(loaded).tensor.bytes().size(), 6u);
}

TEST(Import, packed_dims) {
  const Wire wire = Wire().text(1, Wire().varint(2).varint(3).bytes()).integer(2, 2).text(9, "123456");
  EXPECT_EQ(only_tensor(import_bytes(with_initializer(wire).bytes())).tensor.shape(), (tensor::Shape{2, 3}));
}

TEST(Import, attributes_of_every_kind) {
  EXPECT_EQ(attribute_of(with_attribute(attribute("a", -3)), "a").integer(), -3);
  EXPECT_EQ(attribute_of(with_attribute(Wire().text(1, "a").float32(2, 0.5f).integer(20, 1)), "a").floating(), 0.5f);
  const ir::Model ints =
      with_attribute(Wire().text(1, "a").text(8, Wire().varint(1).varint(2).bytes()).integer(8, 3).integer(20, 7));
  EXPECT_EQ(attribute_of(ints, "a").integers().size(), 3u);
  const ir::Model floats = with_attribute(Wire().text(1, "a").float32(7, 1).text(7, "1234").integer(20, 6));
  EXPECT_EQ(attribute_of(floats, "a").floats().size(), 2u);
  const ir::Model strings = with_attribute(Wire().text(1, "a").text(9, "x").text(9, "y").integer(20, 8));
  EXPECT_EQ(strings.text(attribute_of(strings, "a").strings()[1]), "y");
  const ir::Model tensors = with_attribute(Wire()
                                               .text(1, "a")
                                               .message(10, raw_tensor("", 2, {1}, "x"))
                                               .message(10, raw_tensor("", 2, {1}, "y"))
                                               .integer(20, 9));
  EXPECT_EQ(attribute_of(tensors, "a").tensors().size(), 2u);
  const ir::Model type = with_attribute(Wire().text(1, "a").message(14, tensor_type(1, {4})).integer(20, 13));
  EXPECT_EQ(type[attribute_of(type, "a").type_value()].dtype, DType::float32);
  const ir::Model reference = with_attribute(Wire().text(1, "a").text(21, "outer").integer(20, 2));
  EXPECT_TRUE(attribute_of(reference, "a").is_reference());
}

TEST(Import, attributes_without_a_type_take_that_of_their_field) {
  EXPECT_EQ(attribute_of(with_attribute(Wire().text(1, "a").integer(3, 4)), "a").integer(), 4);
  EXPECT_EQ(attribute_of(with_attribute(Wire().text(1, "a").float32(7, 4)), "a").floats().size(), 1u);
}

TEST(Import, bodies_in_fields_that_the_type_does_not_call_for_leave_no_uses) {
  const Wire inner = Wire().message(1, node("Relu", {"X"}, {"I"})).message(12, value_info("I"));
  const ir::Model loaded = with_attribute(Wire().text(1, "a").integer(3, 4).message(6, inner).integer(20, 2));
  size_t count = 0;
  for (const ir::Use& use : ir::uses(loaded, loaded[loaded.main_graph()].inputs[0])) count += use.value.valid();
  EXPECT_EQ(count, 1u);
}

TEST(Import, types) {
  const Wire dims = Wire()
                        .message(1, Wire().text(2, "N"))
                        .message(1, Wire().integer(1, 3))
                        .message(1, Wire())
                        .message(1, Wire().integer(1, -1));
  const Wire optional = Wire().message(9, Wire().message(1, Wire().message(4, Wire().message(1, tensor_type(7, {})))));
  const Wire map = Wire().message(5, Wire().integer(1, 8).message(2, tensor_type(1, {})));
  Wire main =
      graph({}).message(11, value_info("A", Wire().message(1, Wire().integer(1, 1).message(2, dims)).text(6, "IMAGE")));
  main.message(11, value_info("B", optional)).message(11, value_info("C", map)).message(11, Wire().text(1, "D"));
  main.message(11, value_info("E", Wire().message(7, Wire().text(1, "d").text(2, "n"))));
  const ir::Model loaded = import_bytes(model(main).bytes());
  const std::vector<ir::ValueId>& inputs = loaded[loaded.main_graph()].inputs;
  const ir::Type& a = loaded[loaded[inputs[1]].type];
  ASSERT_EQ(a.dims.size(), 4u);
  EXPECT_EQ(loaded.dims().text(a.dims[0], loaded.symbols()), "N");
  EXPECT_EQ(loaded.dims().as_constant(a.dims[1]), 3);
  EXPECT_EQ(a.dims[2], ir::kUnknownDim);
  EXPECT_EQ(a.dims[3], ir::kUnknownDim);
  EXPECT_EQ(loaded.text(a.denotation), "IMAGE");
  const ir::Type& b = loaded[loaded[inputs[2]].type];
  EXPECT_EQ(b.kind, ir::TypeKind::optional);
  EXPECT_EQ(loaded[loaded[b.element].element].dtype, DType::int64);
  EXPECT_EQ(loaded[loaded[inputs[3]].type].dtype, DType::string);
  EXPECT_FALSE(loaded[inputs[4]].type.valid());
  EXPECT_EQ(loaded.text(loaded[loaded[inputs[5]].type].name), "n");
}

TEST(Import, initializers_defaults_and_sparse_initializers) {
  Wire main = graph({}).message(5, raw_tensor("X", 1, {1}, "1234")).message(5, raw_tensor("W", 1, {1}, "5678"));
  main.message(
      15,
      Wire().message(1, raw_tensor("S", 1, {1}, "1234")).message(2, raw_tensor("", 7, {1}, "12345678")).integer(3, 9));
  const ir::Model loaded = import_bytes(model(main).bytes());
  const ir::Graph& g = loaded[loaded.main_graph()];
  ASSERT_EQ(g.initializers.size(), 3u);
  EXPECT_EQ(loaded[g.initializers[0]].kind, ir::ValueKind::input);
  EXPECT_EQ(loaded[g.initializers[1]].kind, ir::ValueKind::initializer);
  EXPECT_EQ(loaded[loaded[g.initializers[2]].constant].sparse->dims, (tensor::Shape{9}));
}

TEST(Import, bodies_see_the_names_around_them) {
  const Wire deepest = Wire().message(1, node("Add", {"X", "A"}, {"D"})).message(12, value_info("D"));
  const Wire outer =
      Wire().message(1, node("If", {}, {"O"}).message(5, body_attribute("b", deepest))).message(12, value_info("A"));
  const ir::Model loaded = import_bytes(
      model(graph({node("Relu", {"X"}, {"A"}), node("If", {"A"}, {"Y"}).message(5, body_attribute("b", outer))}))
          .bytes());
  const ir::Node& inner = loaded[loaded[ir::GraphId{2}].first];
  EXPECT_EQ(inner.operands[0].value, loaded[loaded.main_graph()].inputs[0]);
  EXPECT_EQ(inner.operands[1].value, loaded[node_at(loaded, 0)].results[0]);
  EXPECT_EQ(loaded.outputs(ir::GraphId{1})[0].value, inner.operands[1].value);
}

TEST(Import, names_of_one_body_are_not_seen_in_the_next) {
  const Wire first = Wire().message(1, node("Relu", {"X"}, {"I"})).message(12, value_info("I"));
  const Wire second = Wire().message(12, value_info("I"));
  Wire holder = node("If", {"X"}, {"Y"});
  holder.message(5, body_attribute("a", first)).message(5, body_attribute("b", second));
  Diagnostics findings;
  import_file(mapped(model(graph({holder})).bytes()), findings);
  ASSERT_EQ(codes(findings), "undefined_name ");
  EXPECT_NE(findings.all()[0].message.find("is defined nowhere"), std::string::npos) << findings.all()[0].message;
}

TEST(Import, functions_have_their_own_scope) {
  const Wire function = Wire()
                            .text(1, "f")
                            .text(4, "a")
                            .text(5, "b")
                            .text(6, "alpha")
                            .message(7, node("Add", {"a", "X"}, {"b"}))
                            .message(9, opset(17))
                            .text(10, "d")
                            .text(13, "o")
                            .text(8, "doc")
                            .message(11, attribute("beta", 2))
                            .message(12, value_info("b"));
  Diagnostics findings;
  const ir::Model loaded = import_file(mapped(model(graph({})).message(25, function).bytes()), findings);
  ASSERT_EQ(loaded.functions().size(), 1u);
  const ir::Function& f = loaded.functions()[0];
  EXPECT_EQ(loaded.text(f.domain), "d");
  EXPECT_EQ(loaded.text(f.overload), "o");
  EXPECT_EQ(f.doc, "doc");
  EXPECT_EQ(f.attribute_defaults.at(0).integer(), 2);
  EXPECT_EQ(f.attribute_names.size(), 1u);
  EXPECT_EQ(loaded[f.body].node_count, 1u);
  EXPECT_TRUE(loaded[loaded.outputs(f.body)[0].value].type.valid());
  EXPECT_NE(codes(findings).find("undefined_name"), std::string::npos) << "X of the main graph is not seen";
}

TEST(Import, value_infos_and_outputs_give_types) {
  const Wire main = graph({node("Relu", {"X"}, {"A"}), node("Relu", {"A"}, {"Y"})})
                        .message(13, value_info("A", tensor_type(6, {1})))
                        .message(13, value_info("nobody"));
  const ir::Model loaded = import_bytes(model(main).bytes());
  const ir::Value& a = loaded[loaded[node_at(loaded, 0)].results[0]];
  EXPECT_EQ(loaded[a.type].dtype, DType::int32);
  EXPECT_TRUE(loaded[loaded.outputs(loaded.main_graph())[0].value].type.valid());
}

TEST(Import, nothing_is_quadratic) {
  const auto memory = [](int count) {
    std::vector<Wire> nodes;
    for (int i = 0; i < count; ++i)
      nodes.push_back(node("Relu", {i == 0 ? "X" : "v" + std::to_string(i - 1)}, {"v" + std::to_string(i)}));
    Diagnostics findings;
    const ir::Model loaded = import_file(mapped(model(graph(nodes)).bytes()), findings);
    EXPECT_EQ(loaded.node_slots(), static_cast<uint32_t>(count) + 1);
    return loaded.value_slots() + loaded.symbols().size();
  };
  EXPECT_NEAR(memory(200'000), 10 * memory(20'000), 1000);
}

// Ids in the order that the nodes could stand in; where they stand is as in the file, byte for byte.
TEST(Import, ids_of_nodes_that_are_out_of_order) {
  const std::string bytes =
      model(graph({node("Op", {"B"}, {"C"}), node("Op", {"X"}, {"A"}), node("Op", {"A"}, {"B"})})).bytes();
  const ir::Model loaded = import_bytes(bytes);
  const ir::NodeId c = node_at(loaded, 0), a = node_at(loaded, 1), b = node_at(loaded, 2);
  EXPECT_EQ(loaded.text(loaded[loaded[c].results[0]].name), "C");
  EXPECT_LT(a, b);
  EXPECT_LT(b, c);
  EXPECT_LT(loaded[a].results[0], loaded[b].results[0]);
  EXPECT_EQ(loaded[c].operands[0].value, loaded[b].results[0]);
  EXPECT_EQ(saved(loaded), bytes);
}

}  // namespace
}  // namespace assay::onnx
