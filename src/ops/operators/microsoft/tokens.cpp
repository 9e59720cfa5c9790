#include <bit>
#include <limits>
#include <string>

#include "ops/operator.h"

namespace assay::ops {
namespace {

int64_t gram_size(const Node& node) {
  const int64_t size = node.integer("ngram_size");
  if (size < 1) fail(ErrorCode::shape, "attribute `ngram_size` is {}", size);
  return size;
}

void infer_repeat_block(Infer& node) {
  gram_size(node);
  node.require_rank(0, 2);
  node.require_rank(1, 2);
  if (!node.is_ranked(1)) return node.set_dims(0, Dims(2));
  Dims dims = node.dims(1);
  if (node.is_ranked(0)) dims[0] = unify(dims[0], node.dims(0)[0], "batch sizes of tokens and scores");
  node.set_dims(0, std::move(dims));
}

// A token gets no chance where it followed the same tokens as those at the end before.
void eval_repeat_block(Eval& node) {
  const std::vector<int64_t> tokens = node.integers_in(0);
  std::vector<double> scores = node.load<double>(1);
  const int64_t length = node.shape(0)[1];
  const int64_t words = node.shape(1)[1];
  const int64_t before = gram_size(node) - 1;
  for (int64_t b = 0; b < node.shape(0)[0]; ++b) {
    const int64_t* line = tokens.data() + b * length;
    for (int64_t at = 0; before < length - at; ++at) {
      if (!std::equal(line + at, line + at + before, line + length - before)) continue;
      const int64_t token = line[at + before];
      if (token < 0 || token >= words) fail(ErrorCode::shape, "token {} is out of range for {} scores", token, words);
      scores[static_cast<size_t>(b * words + token)] = -std::numeric_limits<double>::infinity();
    }
  }
  node.store(0, std::move(scores));
}

void infer_hash(Infer& node) {
  node.set_dtype(0, node.integer("positive") == 1 ? DType::uint32 : DType::int32);
  infer_same_as_first(node);
}

// MurmurHash3 of 32 bits, for x86.
class Hash {
 public:
  explicit Hash(uint32_t seed) : seed_(seed) {}

  uint32_t operator()(std::string_view bytes) const {
    uint32_t hash = seed_;
    const size_t whole = bytes.size() / 4 * 4;
    for (size_t at = 0; at < whole; at += 4) {
      hash = std::rotl(hash ^ scrambled(bytes.substr(at, 4)), 13) * 5 + 0xe6546b64U;
    }
    hash ^= scrambled(bytes.substr(whole));
    hash ^= static_cast<uint32_t>(bytes.size());
    hash = (hash ^ hash >> 16) * 0x85ebca6bU;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35U;
    return hash ^ hash >> 16;
  }

 private:
  // Up to four bytes, the first the lowest; none give 0.
  static uint32_t scrambled(std::string_view bytes) {
    uint32_t word = 0;
    for (size_t i = 0; i < bytes.size(); ++i) word |= uint32_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    return std::rotl(word * 0xcc9e2d51U, 15) * 0x1b873593U;
  }

  uint32_t seed_;
};

std::string low_bytes(uint64_t code, uint64_t count) {
  std::string bytes;
  for (uint64_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(code >> (8 * i) & 0xFF));
  return bytes;
}

// The bytes of an element as its declared type is stored, low bytes first.
std::vector<std::string> bytes_of(const Eval& node) {
  const DType dtype = node.dtype(0);
  if (tensor::kind(dtype) == tensor::DTypeKind::string) return node.load<std::string>(0);
  const uint64_t width = tensor::bit_width(dtype) / 8;
  std::vector<std::string> result;
  if (dtype == DType::float64) {
    for (const double x : node.load<double>(0)) result.push_back(low_bytes(std::bit_cast<uint64_t>(x), width));
  } else if (dtype == DType::float32) {
    for (const double x : node.load<double>(0))
      result.push_back(low_bytes(std::bit_cast<uint32_t>(static_cast<float>(x)), width));
  } else if (tensor::kind(dtype) == tensor::DTypeKind::unsigned_integer) {
    for (const uint64_t x : node.load<uint64_t>(0)) result.push_back(low_bytes(x, width));
  } else {
    for (const int64_t x : node.load<int64_t>(0)) result.push_back(low_bytes(static_cast<uint64_t>(x), width));
  }
  return result;
}

void eval_hash(Eval& node) {
  const Hash hash(static_cast<uint32_t>(static_cast<uint64_t>(node.integer("seed"))));
  std::vector<int64_t> codes;
  for (const std::string& bytes : bytes_of(node)) codes.push_back(static_cast<int64_t>(hash(bytes)));
  node.store(0, std::move(codes));
}

}  // namespace

OperatorRows operator_microsoft_tokens() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "NGramRepeatBlock",
       .traits = {Nature::text},
       .infer = infer_repeat_block,
       .eval = eval_repeat_block},
      {.domain = kMicrosoft, .name = "MurmurHash3", .traits = {Nature::text}, .infer = infer_hash, .eval = eval_hash},
  };
  return kRows;
}

}  // namespace assay::ops
