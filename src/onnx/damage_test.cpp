// Damaged files: one line, the right code, no crash, no memory for lengths that only the file claims.
#include <random>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "ir/edit.h"
#include "onnx/load.h"
#include "support/model_checks.h"

namespace assay::onnx {
namespace {

using namespace testing_support;

// A small model with one of every message.
std::string small_model() {
  const Wire inner = Wire().message(1, node("Relu", {"X"}, {"I"})).message(12, value_info("I"));
  Wire holder = node("If", {"X"}, {"B"}, "holder");
  holder.message(5, body_attribute("then", inner)).message(5, attribute("axis", 3));
  holder.message(5, Wire().text(1, "value").message(5, raw_tensor("", 1, {1}, "1234")).integer(20, 4));
  Wire main = graph({holder, node("Add", {"B", "W"}, {"Y"})});
  main.message(5, raw_tensor("W", 1, {2}, "12345678"))
      .message(13, value_info("B", Wire().message(4, Wire().message(1, tensor_type(1, {})))));
  const Wire sparse =
      Wire().message(1, raw_tensor("S", 1, {1}, "1234")).message(2, raw_tensor("", 7, {1}, "12345678")).integer(3, 4);
  main.message(15, sparse);
  const Wire function = Wire()
                            .text(1, "f")
                            .text(4, "a")
                            .text(5, "b")
                            .message(7, node("Relu", {"a"}, {"b"}))
                            .message(9, opset(17))
                            .text(10, "d");
  return Wire()
      .integer(1, 10)
      .message(7, main)
      .message(8, opset(17))
      .message(25, function)
      .message(14, Wire().text(1, "k").text(2, "v"))
      .bytes();
}

std::vector<size_t> top_level_ends(const std::string& bytes) {
  std::vector<size_t> ends;
  const Bytes all = std::as_bytes(std::span(bytes));
  FieldReader reader({all, all.data()});
  for (Field field; reader.next(field);)
    ends.push_back(static_cast<size_t>(field.whole.data() - all.data()) + field.whole.size());
  return ends;
}

TEST(Damage, every_cut_is_an_error_or_a_whole_model) {
  const std::string bytes = small_model();
  ASSERT_EQ(import_error(bytes), std::nullopt) << import_error(bytes)->line();
  const std::vector<size_t> ends = top_level_ends(bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto end = std::find(ends.begin(), ends.end(), size);
    const bool is_model = end != ends.end() && end - ends.begin() >= 2;  // graph and opset_import are there
    const std::string line = parse_error(bytes.substr(0, size));
    EXPECT_EQ(line == "no error", is_model) << size << ": " << line;
  }
}

TEST(Damage, every_changed_byte_is_an_error_or_a_model) {
  const std::string bytes = small_model();
  std::mt19937 random(11);
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff, static_cast<int>(random() % 255 + 1)}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const std::optional<Error> error = import_error(damaged);
      EXPECT_TRUE(!error || is_one_line(*error)) << error->line();
    }
  }
}

TEST(Damage, random_bytes_and_no_bytes) {
  EXPECT_EQ(parse_error(""), "the file is empty, expected an ONNX model");
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes(random() % 200 + 1, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_NE(parse_error(bytes), "no error");
  }
}

TEST(Damage, what_is_no_model) {
  EXPECT_EQ(parse_error(Wire().integer(1, 10).message(8, opset(17)).bytes()),
            "not an ONNX model: it has 0 graphs, expected one");
  EXPECT_EQ(
      parse_error(Wire().integer(1, 10).message(7, graph({})).message(7, graph({})).message(8, opset(17)).bytes()),
      "not an ONNX model: it has 2 graphs, expected one");
  EXPECT_EQ(parse_error(Wire().integer(1, 3).message(7, graph({})).bytes()),
            "not an ONNX model: IR version 3 needs an opset_import, there is none");
  EXPECT_EQ(parse_error(Wire().integer(1, 2).message(7, Wire()).bytes()), "no error");
}

// One known field with a wire type that it cannot have, inside otherwise sound messages.
Wire wrong(uint32_t number, bool is_number) {
  return is_number ? Wire().text(number, "\x80") : Wire().integer(number, 1);
}

void expect_wrong_wire_type(const Wire& whole_model, const std::string& what) {
  const std::string line = parse_error(whole_model.bytes());
  const bool is_named = line.find("wire type") != std::string::npos || line.find("packed") != std::string::npos;
  EXPECT_TRUE(is_named) << what << ": " << line;
}

TEST(Damage, wrong_wire_types_of_the_model) {
  for (const uint32_t number : {1u, 5u})
    expect_wrong_wire_type(model(graph({})).raw(wrong(number, true).bytes()), "model");
  for (const uint32_t number : {2u, 3u, 4u, 6u, 8u, 14u, 25u}) {
    expect_wrong_wire_type(model(graph({})).raw(wrong(number, false).bytes()), "model " + std::to_string(number));
  }
  expect_wrong_wire_type(Wire().message(8, opset(1)).integer(7, 1), "graph");
}

TEST(Damage, wrong_wire_types_of_graph_node_and_value_info) {
  for (const uint32_t number : {1u, 2u, 5u, 10u, 11u, 12u, 13u, 15u}) {
    expect_wrong_wire_type(model(graph({}).raw(wrong(number, false).bytes())), "graph " + std::to_string(number));
  }
  for (const uint32_t number : {1u, 2u, 3u, 4u, 5u, 7u, 8u}) {
    expect_wrong_wire_type(model(graph({wrong(number, false)})), "node " + std::to_string(number));
  }
  for (const uint32_t number : {1u, 2u}) {
    for (const uint32_t list : {11u, 12u, 13u}) {
      expect_wrong_wire_type(model(graph({}).message(list, wrong(number, false))), "value " + std::to_string(number));
    }
  }
}

TEST(Damage, wrong_wire_types_of_attributes) {
  const auto with = [](const Wire& item) { return model(graph({Wire().text(4, "Op").message(5, item)})); };
  for (const uint32_t number : {2u, 3u, 7u, 8u, 20u}) {
    expect_wrong_wire_type(with(Wire().tag(number, 1).raw("12345678")), "attribute " + std::to_string(number));
  }
  for (const uint32_t number : {1u, 4u, 5u, 6u, 9u, 10u, 11u, 14u, 15u, 21u, 22u, 23u}) {
    expect_wrong_wire_type(with(wrong(number, false)), "attribute " + std::to_string(number));
  }
}

TEST(Damage, wrong_wire_types_of_tensors) {
  const auto with = [](const Wire& item) { return model(graph({}).message(5, item)); };
  expect_wrong_wire_type(with(Wire().tag(1, 5).raw("1234")), "dims");
  expect_wrong_wire_type(with(wrong(2, true)), "data_type");
  for (const uint32_t number : {8u, 9u, 13u})
    expect_wrong_wire_type(with(wrong(number, false)), std::to_string(number));
  const std::vector<std::pair<uint32_t, int>> typed = {{4, 1}, {5, 6}, {6, 8}, {7, 7}, {10, 11}, {11, 13}};
  for (const auto& [number, dtype] : typed) {
    const Wire field = number == 4    ? Wire().integer(4, 1)
                       : number == 10 ? Wire().integer(10, 1)
                                      : Wire().tag(number, 5).raw("1234");
    expect_wrong_wire_type(with(Wire().integer(2, dtype).raw(field.bytes())), "typed " + std::to_string(number));
  }
  for (const uint32_t number : {1u, 2u}) {
    expect_wrong_wire_type(model(graph({}).message(15, wrong(number, false))), "sparse " + std::to_string(number));
  }
}

TEST(Damage, wrong_wire_types_of_types_and_functions) {
  const auto with = [](const Wire& type) { return model(graph({}).message(11, Wire().message(2, type))); };
  for (const uint32_t number : {1u, 4u, 5u, 6u, 7u, 8u, 9u}) {
    expect_wrong_wire_type(with(wrong(number, false)), "type " + std::to_string(number));
  }
  expect_wrong_wire_type(with(Wire().message(1, wrong(1, true))), "elem_type");
  expect_wrong_wire_type(with(Wire().message(1, wrong(2, false))), "shape");
  expect_wrong_wire_type(with(Wire().message(1, Wire().message(2, Wire().message(1, wrong(1, true))))), "dim_value");
  expect_wrong_wire_type(with(Wire().message(1, Wire().message(2, Wire().message(1, wrong(2, false))))), "dim_param");
  for (const uint32_t number : {1u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u, 13u}) {
    expect_wrong_wire_type(model(graph({})).message(25, wrong(number, false)), "function " + std::to_string(number));
  }
}

TEST(Damage, tensors_that_do_not_fit_their_bytes) {
  const auto line = [](const Wire& item) { return parse_error(model(graph({}).message(5, item)).bytes()); };
  EXPECT_EQ(line(raw_tensor("W", 1, {3}, "12345678")),
            "tensor `W`: 3 elements of float32 do not fit its 8 bytes of data");
  EXPECT_EQ(line(raw_tensor("W", 22, {3}, "1")), "tensor `W`: 3 elements of int4 do not fit its 1 bytes of data");
  EXPECT_EQ(line(raw_tensor("W", 1, {-1}, "1234")), "tensor `W`: its dims [-1] are negative or too large");
  EXPECT_NE(line(raw_tensor("W", 1, {1l << 40, 1l << 40}, "")).find("too large"), std::string::npos);
  EXPECT_NE(line(raw_tensor("W", 1, {1l << 62}, "")).find("do not fit"), std::string::npos);
  EXPECT_NE(line(raw_tensor("W", 8, {1}, "1")).find("strings cannot"), std::string::npos);
  EXPECT_NE(line(Wire().integer(1, 2).integer(2, 1)).find("needs 2 data entries"), std::string::npos);
  EXPECT_NE(line(Wire().integer(1, 2).integer(2, 1).integer(5, 1)).find("another type"), std::string::npos);
  EXPECT_NE(line(Wire().integer(1, 1).integer(2, 6).text(5, "\x80")).find("packed"), std::string::npos);
  EXPECT_NE(line(Wire().integer(1, 1).integer(2, 6).text(5, std::string(10, '\xff') + '\1')).find("packed"),
            std::string::npos);
  EXPECT_EQ(line(raw_tensor("W", 1, {0, 1l << 40, 1l << 40}, "")), "no error");
}

TEST(Damage, names_with_line_breaks_stay_on_one_line) {
  EXPECT_NE(parse_error(model(graph({}).message(5, raw_tensor("a\nb\r\x1b[2J", 1, {3}, ""))).bytes()), "several lines");
}

// A million messages inside each other, each one level of a real graph.
TEST(Damage, deep_nesting) {
  for (const int depth : {40, 1000}) {
    Wire inner;
    for (int i = 0; i < depth; ++i) inner = graph({Wire().text(4, "If").message(5, body_attribute("b", inner))});
    EXPECT_NE(parse_error(model(inner).bytes()).find("nested more than 100 deep"), std::string::npos);
  }
  std::string deep;  // lengths grow to the front, so it is built backwards
  std::string headers;
  for (int i = 0; i < 1'000'000; ++i) {
    std::string size;
    for (uint64_t rest = headers.size(); size.empty() || rest > 0; rest >>= 7)
      size += static_cast<char>((rest & 0x7f) | (rest >> 7 ? 0x80 : 0));
    std::reverse(size.begin(), size.end());
    headers += size + (i % 2 == 0 ? '\x0a' : '\x22');  // Sequence.elem_type inside TypeProto.sequence_type
  }
  deep.assign(headers.rbegin(), headers.rend());
  EXPECT_NE(parse_error(model(graph({}).message(11, Wire().text(2, deep))).bytes()).find("nested more than 100 deep"),
            std::string::npos);
}

TEST(Damage, deepest_nesting_that_loads_can_be_edited_and_saved) {
  Wire inner = graph({node("Relu", {"X"}, {"Y"}, "deepest")});
  for (int i = 0; i < 32; ++i) inner = graph({Wire().text(4, "If").message(5, body_attribute("b", inner))});
  const std::string bytes = model(inner).bytes();
  ir::Model loaded = import_bytes(bytes);
  ir::Edit edit(loaded);
  edit.rename(loaded[ir::GraphId{loaded.graph_slots() - 1}].first, "renamed");
  EXPECT_NE(saved(loaded).find("renamed"), std::string::npos);
}

TEST(Damage, claimed_lengths_take_no_memory) {
  rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  for (const uint64_t length : {uint64_t{1} << 40, ~uint64_t{0}, uint64_t{1} << 33}) {
    EXPECT_NE(parse_error(Wire().tag(7, 2).varint(length).bytes()), "no error");
    const Wire dims = Wire().integer(1, static_cast<int64_t>(length >> 1)).integer(2, 1).text(8, "W");
    for (const uint32_t field : {4u, 5u, 9u}) {
      Wire claims = dims;
      EXPECT_NE(parse_error(model(graph({}).message(5, claims.text(field, ""))).bytes()), "no error");
    }
  }
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 << 10);
}

}  // namespace
}  // namespace assay::onnx
