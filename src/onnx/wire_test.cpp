#include "onnx/wire.h"

#include <gtest/gtest.h>

#include "support/model_checks.h"

namespace assay::onnx {
namespace {

using namespace testing_support;

Message message_of(std::string_view bytes) {
  const Bytes all = std::as_bytes(std::span(bytes));
  return {all, all.data()};
}

std::vector<Field> fields_of(std::string_view bytes) {
  std::vector<Field> fields;
  FieldReader reader(message_of(bytes));
  for (Field field; reader.next(field);) fields.push_back(field);
  return fields;
}

std::string error_line(std::string_view bytes) {
  const std::optional<Error> error = error_of([&] { fields_of(bytes); });
  if (!error) return "no error";
  return error->code() == ErrorCode::parse && is_one_line(*error) ? error->line() : "wrong error";
}

TEST(Wire, reads_every_wire_type) {
  const std::string bytes =
      Wire().integer(1, -1).float64(2, 1.5).text(3, "abc").float32(4, 0.5f).integer((1 << 29) - 1, 300).bytes();
  const std::vector<Field> fields = fields_of(bytes);
  ASSERT_EQ(fields.size(), 5u);
  EXPECT_EQ(as_int(fields[0], "f"), -1);
  EXPECT_EQ(fields[1].type, WireType::fixed64);
  EXPECT_EQ(fields[1].value, std::bit_cast<uint64_t>(1.5));
  EXPECT_EQ(as_string(fields[2], "f"), "abc");
  EXPECT_EQ(as_float(fields[3], "f"), 0.5f);
  EXPECT_EQ(fields[4].number, (1u << 29) - 1);
  EXPECT_EQ(as_int(fields[4], "f"), 300);
}

TEST(Wire, whole_fields_cover_the_message) {
  const std::string bytes = Wire().integer(1, 500).text(2, std::string(200, 'x')).float32(3, 1).text(4, "").bytes();
  size_t at = 0;
  for (const Field& field : fields_of(bytes)) {
    EXPECT_EQ(reinterpret_cast<const char*>(field.whole.data()), bytes.data() + at);
    at += field.whole.size();
  }
  EXPECT_EQ(at, bytes.size());
}

TEST(Wire, groups_are_skipped_as_one_field) {
  const std::string group = Wire().tag(7, 3).integer(1, 5).tag(8, 3).text(2, "x").tag(8, 4).tag(7, 4).bytes();
  const std::string bytes = group + Wire().integer(1, 9).bytes();
  const std::vector<Field> fields = fields_of(bytes);
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(fields[0].type, WireType::group);
  EXPECT_EQ(fields[0].whole.size(), group.size());
}

TEST(Wire, damage_is_named_with_its_place) {
  EXPECT_EQ(error_line(Wire().integer(1, 5).tag(2, 0).bytes()), "byte 3: the file ends within a number");
  EXPECT_EQ(error_line(Wire().tag(2, 2).varint(5).raw("abcd").bytes()), "byte 2: field 2 needs 5 bytes, 4 are left");
  EXPECT_EQ(error_line(std::string(11, '\xff')), "byte 0: a number is longer than 10 bytes");
  EXPECT_EQ(error_line(Wire().tag(2, 1).raw("1234567").bytes()), "byte 1: the file ends within a number");
  EXPECT_EQ(error_line(Wire().tag(2, 5).raw("123").bytes()), "byte 1: the file ends within a number");
}

TEST(Wire, what_is_no_field) {
  for (const unsigned type : {4u, 6u, 7u}) EXPECT_NE(error_line(Wire().tag(1, type).bytes()), "no error") << type;
  EXPECT_NE(error_line(Wire().varint(0).bytes()), "no error");
  EXPECT_NE(error_line(Wire().varint(uint64_t{1} << 32).varint(1).bytes()), "no error");
  EXPECT_NE(error_line(Wire().tag(1, 3).varint(2).tag(1, 4).bytes()), "no error") << "field 0 in a group";
}

TEST(Wire, damaged_groups) {
  EXPECT_EQ(error_line(Wire().tag(1, 3).bytes()), "byte 1: the file ends within a group");
  EXPECT_EQ(error_line(Wire().tag(1, 3).tag(2, 4).bytes()), "byte 2: a group is closed by another one");
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "\x0b";
  EXPECT_NE(error_line(deep).find("too deeply"), std::string::npos);
}

TEST(Wire, lengths_that_overflow) {
  for (const uint64_t length : {~uint64_t{0}, ~uint64_t{0} >> 1, uint64_t{1} << 63, uint64_t{1} << 32, uint64_t{11}}) {
    const std::string bytes = Wire().tag(1, 2).varint(length).raw("0123456789").bytes();
    EXPECT_NE(error_line(bytes).find("10 are left"), std::string::npos) << length;
  }
}

TEST(Wire, every_cut_of_a_message_is_damage_or_a_whole_field) {
  const std::string bytes =
      Wire().integer(1, 300).float64(2, 1).text(3, "abc").float32(4, 2).tag(5, 3).tag(5, 4).bytes();
  std::vector<size_t> ends = {0};
  for (const Field& field : fields_of(bytes)) ends.push_back(ends.back() + field.whole.size());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const bool is_whole = std::find(ends.begin(), ends.end(), size) != ends.end();
    EXPECT_EQ(error_line(bytes.substr(0, size)) == "no error", is_whole) << size;
  }
}

TEST(Wire, messages_are_nested_100_deep_at_most) {
  std::string bytes;
  for (int i = 0; i < 101; ++i) bytes = Wire().text(1, bytes).bytes();
  Message message = message_of(bytes);
  for (int depth = 1; depth <= 100; ++depth) {
    Field field;
    ASSERT_TRUE(FieldReader(message).next(field));
    message = child(message, field);
    EXPECT_EQ(message.depth, depth);
  }
  Field field;
  ASSERT_TRUE(FieldReader(message).next(field));
  EXPECT_THROW(child(message, field), Error);
}

TEST(Wire, packed_and_single_numbers_read_alike) {
  const std::string single = Wire().integer(1, 1).integer(1, -2).integer(1, 300).bytes();
  const std::string packed =
      Wire().text(1, Wire().varint(1).varint(static_cast<uint64_t>(-2)).varint(300).bytes()).bytes();
  for (const std::string& bytes : {single, packed}) {
    std::vector<int64_t> values;
    for (const Field& field : fields_of(bytes)) {
      for_each_varint(field, "f", [&](uint64_t value) { values.push_back(static_cast<int64_t>(value)); });
    }
    EXPECT_EQ(values, (std::vector<int64_t>{1, -2, 300}));
  }
}

TEST(Wire, packed_numbers_that_do_not_end) {
  const std::string varints = Wire().text(1, "\x01\x80").bytes();
  const std::string floats = Wire().text(1, "12345").bytes();
  const auto ignore = [](uint64_t) {};
  EXPECT_THROW(for_each_varint(fields_of(varints)[0], "f", ignore), Error);
  EXPECT_THROW(for_each_fixed<uint32_t>(fields_of(floats)[0], "f", ignore), Error);
  EXPECT_THROW(for_each_fixed<uint64_t>(fields_of(floats)[0], "f", ignore), Error);
}

TEST(Wire, wrong_wire_types_name_the_field) {
  const std::string text = Wire().text(1, "a").bytes();
  const std::string number = Wire().integer(1, 1).bytes();
  const auto line = [](auto fn) { return error_of(fn)->line(); };
  const Field text_field = fields_of(text)[0];
  const Field number_field = fields_of(number)[0];
  EXPECT_EQ(line([&] { as_int(text_field, "dims"); }),
            "field `dims` (1) has the wire type length-delimited, which does not fit");
  EXPECT_EQ(line([&] { as_string(number_field, "n"); }), "field `n` (1) has the wire type varint, which does not fit");
  EXPECT_THROW(as_float(number_field, "f"), Error);
  EXPECT_THROW(as_message(message_of(number), number_field, "m"), Error);
}

}  // namespace
}  // namespace assay::onnx
