#include "onnx/value_file.h"

#include <random>

#include <gtest/gtest.h>

#include "support/model_checks.h"
#include "tensor/casts.h"

namespace assay::onnx {
namespace {

using namespace testing_support;
using tensor::Datum;
using tensor::DType;

// ONNX's messages of values: a tensor of one float or one text, and what holds them.
Wire one_float(float value) { return Wire().integer(2, 1).float32(4, value); }
Wire one_text(std::string_view text) { return Wire().integer(2, 8).text(6, text); }

class ValueFile : public testing::Test {
 protected:
  ir::TypeId tensor(DType dtype) { return types_.unranked_tensor(dtype); }
  ir::TypeId of(ir::TypeKind kind, ir::TypeId element, DType key = DType::undefined) {
    ir::Type type{kind};
    type.element = element;
    type.dtype = key;
    return types_.intern(type);
  }
  Datum read(const std::string& bytes, ir::TypeId type) { return read_value(folder_.put("v.pb", bytes), types_, type); }
  // The line of the Error (parse); otherwise what happened instead.
  std::string line(const Wire& wire, ir::TypeId type, ErrorCode code = ErrorCode::parse) {
    const std::optional<Error> error = error_of([&] { read(wire.bytes(), type); });
    if (!error) return "no error";
    return error->code() == code && is_one_line(*error) ? error->message() : "another error: " + error->line();
  }

  ir::TypeTable types_;
  TemporaryFolder folder_;
  ir::TypeId float_ = tensor(DType::float32);
};

double number(const tensor::Tensor& tensor, uint64_t place = 0) {
  double value = 0;
  tensor::load(tensor.dtype(), tensor.bytes(), place, std::span(&value, 1));
  return value;
}

TEST_F(ValueFile, tensors_of_every_type_in_raw_data) {
  for (int type = 1; type <= 28; ++type) {
    const auto dtype = static_cast<DType>(type);
    if (dtype == DType::string) continue;
    const std::string data(tensor::packed_bytes(dtype, 3).value(), '\x12');
    const Datum value = read(raw_tensor("x", type, {3}, data).bytes(), tensor(dtype));
    EXPECT_EQ(value.tensor().dtype(), dtype);
    EXPECT_EQ(value.declared(), dtype);
    EXPECT_EQ(value.tensor().shape(), (tensor::Shape{3}));
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(value.tensor().bytes().data()), data.size()), data);
  }
}

TEST_F(ValueFile, typed_data) {
  EXPECT_EQ(number(read(one_float(1.5f).bytes(), float_).tensor()), 1.5);
  const Wire nibbles = Wire().integer(1, 3).integer(2, 22).integer(5, 0x2F).integer(5, 0x07);
  const Datum value = read(nibbles.bytes(), tensor(DType::int4));
  EXPECT_EQ(number(value.tensor(), 0), -1);
  EXPECT_EQ(number(value.tensor(), 1), 2);
  EXPECT_EQ(number(value.tensor(), 2), 7);
  const Datum words = read(Wire().integer(1, 2).integer(2, 8).text(6, "a").text(6, "").bytes(), tensor(DType::string));
  EXPECT_EQ(words.tensor().strings()[0], "a");
  EXPECT_EQ(words.tensor().strings()[1], "");
}

TEST_F(ValueFile, sequences) {
  const ir::TypeId sequence = of(ir::TypeKind::sequence, float_);
  const Wire two = Wire().text(1, "s").integer(2, 1).message(3, one_float(1)).message(3, one_float(2));
  const Datum value = read(two.bytes(), sequence);
  ASSERT_EQ(value.items().size(), 2u);
  EXPECT_EQ(number(value.items()[1].tensor()), 2);
  EXPECT_TRUE(read("", sequence).items().empty());
  const Datum nested = read(Wire().message(5, two).message(5, Wire()).bytes(), of(ir::TypeKind::sequence, sequence));
  ASSERT_EQ(nested.items().size(), 2u);
  EXPECT_EQ(nested.items()[0].items().size(), 2u);
  EXPECT_TRUE(nested.items()[1].items().empty());
}

TEST_F(ValueFile, optionals) {
  const ir::TypeId optional = of(ir::TypeKind::optional, float_);
  EXPECT_TRUE(read("", optional).is_none());
  EXPECT_TRUE(read(Wire().integer(2, 0).bytes(), optional).is_none());
  EXPECT_EQ(number(read(Wire().integer(2, 1).message(3, one_float(3)).bytes(), optional).tensor()), 3);
  const ir::TypeId of_sequence = of(ir::TypeKind::optional, of(ir::TypeKind::sequence, float_));
  EXPECT_TRUE(read(Wire().integer(2, 3).message(5, Wire()).bytes(), of_sequence).is_sequence());
  EXPECT_EQ(line(Wire().integer(2, 1), optional), "the optional says that it has content of kind 1, but has none");
}

TEST_F(ValueFile, maps_come_sorted) {
  const ir::TypeId words = of(ir::TypeKind::map, float_, DType::string);
  const Wire values = Wire().message(3, one_float(1)).message(3, one_float(2));
  const Datum by_word = read(Wire().text(4, "b").text(4, "a").message(5, values).bytes(), words);
  EXPECT_EQ(by_word.keys().strings()[0], "a");
  EXPECT_EQ(number(by_word.values()), 2);
  const ir::TypeId numbers = of(ir::TypeKind::map, tensor(DType::string), DType::int64);
  const Wire texts = Wire().message(3, one_text("x")).message(3, one_text("y"));
  const Datum by_number = read(Wire().integer(3, 7).integer(3, -7).message(5, texts).bytes(), numbers);
  EXPECT_EQ(number(by_number.keys()), -7);
  EXPECT_EQ(by_number.values().strings()[0], "y");
  const Datum in_sequence = read(Wire().message(6, Wire()).bytes(), of(ir::TypeKind::sequence, words));
  EXPECT_EQ(in_sequence.items().at(0).keys().count(), 0u);
}

TEST_F(ValueFile, wrong_maps) {
  const ir::TypeId words = of(ir::TypeKind::map, float_, DType::string);
  const Wire two = Wire().message(3, one_float(1)).message(3, one_float(2));
  EXPECT_EQ(line(Wire().text(4, "a").message(5, two), words), "the map has 1 keys of its type and 2 values");
  EXPECT_EQ(line(Wire().integer(3, 1).integer(3, 2).message(5, two), words),
            "the map has 0 keys of its type and 2 values");
  EXPECT_EQ(line(Wire().text(4, "a").text(4, "a").message(5, two), words), "a key of the map occurs twice");
  const Wire pair = Wire().message(3, raw_tensor("", 1, {2}, "12345678"));
  EXPECT_EQ(line(Wire().text(4, "a").message(5, pair), words),
            "a value of the map has 2 elements of float32, expected one of float32");
  EXPECT_EQ(line(Wire(), of(ir::TypeKind::map, float_, DType::float32)),
            "the keys of the map are of float32, expected integers or strings");
}

TEST_F(ValueFile, damage_is_an_error) {
  EXPECT_EQ(line(Wire().integer(1, 0), float_), "its element type is 0, expected one of ONNX's");
  EXPECT_EQ(line(Wire().integer(1, 0).integer(2, 77), float_), "its element type is 77, expected one of ONNX's");
  EXPECT_EQ(line(raw_tensor("x", 1, {3}, "12345678"), float_), "3 elements of float32 do not fit its 8 bytes of data");
  EXPECT_EQ(line(Wire().message(5, Wire()), of(ir::TypeKind::sequence, float_)),
            "it holds a sequence, expected a tensor as its type says");
  EXPECT_EQ(line(one_float(1), of(ir::TypeKind::sequence, ir::TypeId())), "the type of its items is not known");
  EXPECT_EQ(line(one_float(1), ir::TypeId()), "its type is not known");
  EXPECT_EQ(line(one_float(1), of(ir::TypeKind::opaque, ir::TypeId()), ErrorCode::unsupported),
            "values of sparse and opaque types cannot be read");
}

// Every cut and many flipped bytes of a value that has all kinds in it: read, or an Error, but nothing else.
TEST_F(ValueFile, damaged_bytes_never_crash) {
  const ir::TypeId map = of(ir::TypeKind::map, float_, DType::int64);
  const ir::TypeId type = of(ir::TypeKind::optional, of(ir::TypeKind::sequence, map));
  const Wire entries = Wire().integer(3, 5).message(5, Wire().message(3, one_float(1)));
  const std::string whole = Wire().integer(2, 3).message(5, Wire().message(6, entries)).bytes();
  EXPECT_EQ(read(whole, type).items().at(0).keys().count(), 1u);
  for (size_t size = 0; size < whole.size(); ++size) error_of([&] { read(whole.substr(0, size), type); });
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = whole;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    error_of([&] { read(damaged, type); });
  }
}

}  // namespace
}  // namespace assay::onnx
