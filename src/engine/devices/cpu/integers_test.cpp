#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "engine/devices/cpu/integers/integer_math.h"
#include "support/engine_run.h"
#include "tensor/casts.h"

namespace assay::engine::cpu {
namespace {

using tensor::DType;
using testing_support::difference;
using testing_support::parsed;
__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

constexpr DType kTypes[] = {DType::int8,  DType::uint8,  DType::int16, DType::uint16,
                            DType::int32, DType::uint32, DType::int64, DType::uint64};

bool is_signed(DType type) { return tensor::kind(type) == tensor::DTypeKind::signed_integer; }

// The low bits, as numbers of the type.
Wide wrapped(DType type, Wide x) {
  const uint32_t bits = tensor::bit_width(type);
  const Wide low = x & ((Wide{1} << bits) - 1);
  return is_signed(type) && low >= Wide{1} << (bits - 1) ? low - (Wide{1} << bits) : low;
}

// Zeros, ones and the ends of the type are frequent.
std::vector<Wide> drawn(DType type, size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  const Wide ends[] = {
      0, 1, -1, 2, 7, Wide{1} << (tensor::bit_width(type) - 1), (Wide{1} << tensor::bit_width(type)) - 1};
  std::vector<Wide> numbers;
  for (size_t i = 0; i < count; ++i) {
    const bool is_end = random() % 2 == 0;
    const int shift = static_cast<int>(random() % 64);
    numbers.push_back(wrapped(type, is_end ? ends[random() % std::size(ends)] : static_cast<Wide>(random() >> shift)));
  }
  return numbers;
}

std::vector<std::byte> packed(DType type, const std::vector<Wide>& numbers) {
  std::vector<uint64_t> low;
  for (const Wide number : numbers) low.push_back(static_cast<uint64_t>(number));
  std::vector<std::byte> bytes(numbers.size() * tensor::bit_width(type) / 8);
  tensor::store(type, std::span<const uint64_t>(low), 0, bytes);
  return bytes;
}

Wide number_at(DType type, const std::vector<std::byte>& bytes, size_t index) {
  uint64_t low = 0;
  tensor::load(type, bytes, index, std::span(&low, 1));
  return wrapped(type, static_cast<Wide>(low));
}

Wide floored(Wide a, Wide b) {
  const Wide rest = b == 0 ? 0 : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Wide expected(ElementOp op, DType type, Wide a, Wide b, Wide c) {
  const Wide bits = tensor::bit_width(type);
  const bool is_far = b < 0 || b >= bits;
  switch (op) {
    case ElementOp::add:
      return a + b;
    case ElementOp::subtract:
      return a - b;
    case ElementOp::multiply:
      return static_cast<Wide>(static_cast<UnsignedWide>(wrapped(type, a)) *
                               static_cast<UnsignedWide>(wrapped(type, b)));
    case ElementOp::divide:
      return b == 0 ? 0 : a / b;
    case ElementOp::remainder:
      return b == 0 ? 0 : a % b;
    case ElementOp::modulo:
      return floored(a, b);
    case ElementOp::maximum:
      return std::max(a, b);
    case ElementOp::minimum:
      return std::min(a, b);
    case ElementOp::bits_and:
      return a & b;
    case ElementOp::bits_or:
      return a | b;
    case ElementOp::bits_xor:
      return a ^ b;
    case ElementOp::shift_left:
      return is_far ? 0 : a << static_cast<int>(b);
    case ElementOp::shift_right:
      return is_far ? (a < 0 ? -1 : 0) : a >> static_cast<int>(b);
    case ElementOp::negate:
      return -a;
    case ElementOp::abs:
      return a < 0 ? -a : a;
    case ElementOp::sign:
      return (a > 0) - (a < 0);
    case ElementOp::bits_not:
      return ~a;
    case ElementOp::clip:
      return std::min(std::max(a, b), c);
    case ElementOp::less:
      return a < b;
    case ElementOp::greater:
      return a > b;
    case ElementOp::less_or_equal:
      return a <= b;
    case ElementOp::greater_or_equal:
      return a >= b;
    case ElementOp::equal:
      return a == b;
    default:
      ADD_FAILURE() << "a loop of operation " << static_cast<int>(op);
      return 0;
  }
}

void expect_loop(const IntegerKernels& kernels, ElementOp op, DType type) {
  constexpr size_t kCount = 1000;  // whole blocks and a rest
  const std::vector<Wide> a = drawn(type, kCount, 1);
  const std::vector<Wide> b = drawn(type, kCount, 2);
  const std::vector<Wide> c = drawn(type, kCount, 3);
  const std::vector<std::byte> bytes[] = {packed(type, a), packed(type, b), packed(type, c)};
  const std::byte* const operands[] = {bytes[0].data(), bytes[1].data(), bytes[2].data()};
  const DType made = gives_truth(op) ? DType::boolean : type;
  std::vector<std::byte> out(kCount * tensor::bit_width(made) / 8);
  const ElementLoop loop = kernels.find(op, type);
  ASSERT_NE(loop, nullptr);
  loop(operands, out.data(), kCount);
  for (size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(static_cast<int64_t>(number_at(made, out, i)),
              static_cast<int64_t>(wrapped(made, expected(op, type, a[i], b[i], c[i]))))
        << kernels.name << " " << static_cast<int>(op) << " of " << tensor::name(type) << ": "
        << static_cast<int64_t>(a[i]) << " " << static_cast<int64_t>(b[i]);
  }
}

TEST(IntegerKernels, AreExact) {
  const std::span<const IntegerKernels* const> kernels = all_integer_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    for (const DType type : kTypes) {
      int loops = 0;
      for (int op = 0; op <= static_cast<int>(ElementOp::shift_right); ++op) {
        if (kernels[k]->find(static_cast<ElementOp>(op), type) == nullptr) continue;
        expect_loop(*kernels[k], static_cast<ElementOp>(op), type);
        ++loops;
      }
      EXPECT_EQ(loops, 23);
    }
  }
}

TEST(IntegerKernels, ChooseBytes) {
  const std::span<const IntegerKernels* const> kernels = all_integer_kernels();
  for (size_t k = 0; k < kernels.size(); ++k) {
    for (const DType type : {DType::uint8, DType::uint16, DType::uint32, DType::uint64}) {
      constexpr size_t kCount = 100;
      const std::vector<std::byte> x = packed(type, drawn(type, kCount, 1));
      const std::vector<std::byte> y = packed(type, drawn(type, kCount, 2));
      std::vector<std::byte> holds(kCount);
      for (size_t i = 0; i < kCount; ++i) holds[i] = std::byte(i % 3);  // anything but 0 is true
      std::vector<std::byte> out(x.size());
      const std::byte* const operands[] = {holds.data(), x.data(), y.data()};
      kernels[k]->find_choice(tensor::bit_width(type) / 8)(operands, out.data(), kCount);
      for (size_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(number_at(type, out, i) == number_at(type, i % 3 != 0 ? x : y, i), true) << i;
      }
    }
  }
}

// On the engine, by this tactic at first, and on the reference.
void expect_alike(const std::string& text, const std::function<double(size_t)>& number,
                  const std::string& tactic = "elementwise.integers") {
  const ir::Model model = parsed("<ir_version: 9, opset_import: [\"\" : 18]> g " + text);
  const testing_support::EngineRun run = testing_support::run_on_engine(model, number);
  EXPECT_EQ(run.tactics.front(), tactic) << text;
  EXPECT_EQ(difference(run.outputs, testing_support::run_on_reference(model, number), 0), "") << text;
}

double whole(size_t i) { return static_cast<double>(i * 7919 % 251) - 120; }
double natural(size_t i) { return static_cast<double>(i * 7919 % 251); }

// Numbers of all sizes, ends of types, infinities, NaN.
std::function<double(size_t)> fractions() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> numbers = {0,
                                 -0.0,
                                 0.5,
                                 -0.5,
                                 0.99,
                                 127.5,
                                 -128.9,
                                 255.9,
                                 256,
                                 -1,
                                 32767.9,
                                 2147483520.,
                                 2147483648.,
                                 -2147483648.,
                                 4294967040.,
                                 4294967296.,
                                 9.2e18,
                                 9223372036854775808.,
                                 -9223372036854775808.,
                                 1.8e19,
                                 3e38,
                                 -3e38,
                                 kInfinity,
                                 -kInfinity,
                                 std::nan("")};
  std::mt19937 random(5);
  while (numbers.size() < 1000) {
    const int exponent = static_cast<int>(random() % 70) - 4;
    numbers.push_back(std::ldexp(static_cast<double>(random()) / 4294967296. - 0.5, exponent));
  }
  return [numbers](size_t i) { return numbers[i % numbers.size()]; };
}

constexpr const char* kNames[] = {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"};
constexpr int kNumbers[] = {3, 2, 5, 4, 6, 12, 7, 13, 9};

TEST(Integers, Casts) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    for (const char* const from : {"float", "double"}) {
      if (from[0] == 'f' && kNumbers[i] == 9) continue;
      expect_alike(fmt::format("({}[1000] x) => ({}[1000] y) {{ y = Cast<to = {}>(x) }}", from, kNames[i], kNumbers[i]),
                   fractions());
      if (from[0] == 'f' || kNumbers[i] != 9) {
        expect_alike(fmt::format("({}[77] x) => ({}[77] y) {{ y = Cast<to = {}>(x) }}", kNames[i], from,
                                 from[0] == 'f' ? 1 : 11),
                     whole);
      }
    }
    for (size_t k = 0; k < std::size(kNames); ++k) {
      if (i == k) continue;
      expect_alike(
          fmt::format("({}[70] x) => ({}[70] y) {{ y = Cast<to = {}>(x) }}", kNames[i], kNames[k], kNumbers[k]),
          i % 2 == 0 ? whole : natural);
    }
  }
}

TEST(Integers, Operators) {
  for (const char* const op :
       {"Add", "Sub", "Mul", "Div", "Max", "Min", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mod", "Mod<fmod = 1>"}) {
    for (const char* const type : {"int32", "int64", "uint8", "int8"}) {
      expect_alike(fmt::format("({0}[3,70] x, {0}[3,70] z) => ({0}[3,70] y) {{ y = {1}(x, z) }}", type, op), whole);
    }
  }
  for (const char* const op : {"Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"}) {
    expect_alike(fmt::format("(int64[5,33] x, int64[33] z) => (bool[5,33] y) {{ y = {}(x, z) }}", op), whole);
  }
  for (const char* const op : {"Neg", "Abs", "Sign", "BitwiseNot"}) {
    expect_alike(fmt::format("(int32[5,33] x) => (int32[5,33] y) {{ y = {}(x) }}", op), whole);
  }
  for (const char* const direction : {"LEFT", "RIGHT"}) {
    expect_alike(
        fmt::format("(uint32[99] x, uint32[99] z) => (uint32[99] y) {{ y = BitShift<direction = \"{}\">(x, z) }}",
                    direction),
        [](size_t i) { return static_cast<double>(i * 31 % 40); });
  }
  expect_alike("(bool[5,33] c, int64[33] x, int64[5,1] z) => (int64[5,33] y) { y = Where(c, x, z) }", whole);
  expect_alike("(int32[5,33] x, int32 a, int32 b) => (int32[5,33] y) { y = Clip(x, a, b) }", whole);
  expect_alike("(int32[5,33] x, int32 b) => (int32[5,33] y) { y = Clip(x, , b) }", whole);
}

TEST(Integers, ShapesThatBroadcast) {
  for (const char* const dims : {"2,3,4", "4", "1,4", "3,1", "2,1,1", "1", "1,3,4", "2,1,4"}) {
    expect_alike(fmt::format("(int64[2,3,4] x, int64[{}] z) => (int64[2,3,4] y) {{ y = Sub(z, x) }}", dims), whole);
  }
  expect_alike("(int64[0,3] x, int64[3] z) => (int64[0,3] y) { y = Add(x, z) }", whole);
  expect_alike("(int64 x, int64 z) => (int64 y) { y = Add(x, z) }", whole);
  expect_alike("(int64[3000,1] x, int64[1,3] z) => (int64[3000,3] y) { y = Add(x, z) }", whole);
  expect_alike("(int64[3,1] x, int64[1,3000] z) => (int64[3,3000] y) { y = Add(x, z) }", whole);
}

TEST(Integers, OperandsAsTheyLie) {
  expect_alike(
      "(int64[40,50] x, int64[50,40] z) => (int64[50,40] y) "
      "{ t = Transpose<perm = [1,0]>(x) y = Add(t, z) }",
      whole);
}

// What has one operand, or three, is no operator of two.
TEST(Integers, MoreOrFewerOperands) {
  expect_alike("(int64[4] x, int64[4] z, int64[4] w) => (int64[4] y) { y = Max(x, z, w) }", whole, "reference");
  expect_alike("(int32[4] x, int32[4] z) => (int32[4] y) { y = Min(x, z) }", whole);
}

}  // namespace
}  // namespace assay::engine::cpu
