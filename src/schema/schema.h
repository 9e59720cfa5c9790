#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/attribute.h"
#include "tensor/dtype.h"

namespace assay::schema {

// Bit i stands for the dtype with number i.
using DTypeSet = uint32_t;
constexpr DTypeSet set_of(tensor::DType dtype) { return DTypeSet{1} << static_cast<unsigned>(dtype); }

// The types that an argument may have. Sequences and optionals of something by the dtype of their tensors.
struct TypeSet {
  DTypeSet tensors = 0;
  DTypeSet sequences = 0;               // seq(tensor(x))
  DTypeSet optional_tensors = 0;        // optional(tensor(x))
  DTypeSet optional_sequences = 0;      // optional(seq(tensor(x)))
  std::vector<std::string_view> other;  // maps and sequences of maps, as written: `seq(map(int64, float))`
};

enum class ArgumentOption : uint8_t { single, optional, variadic };

struct ArgumentSchema {
  std::string_view name;
  std::string_view variable;  // type variable as `T`; empty: a type of its own
  TypeSet types;              // possible types: of the variable, if there is one
  ArgumentOption option = ArgumentOption::single;
  uint32_t min_arity = 1;   // of variadic ones
  bool homogeneous = true;  // variadic: all of one type
};

using AttributeDefault = std::variant<std::monostate, int64_t, float, std::string_view, std::vector<int64_t>,
                                      std::vector<float>, std::vector<std::string_view>>;

struct AttributeSchema {
  std::string_view name;
  ir::AttributeType type;
  bool required = false;
  AttributeDefault value;
};

// One version of one operator; holds until the next version of the same name.
struct Schema {
  static constexpr uint32_t kUnlimited = UINT32_MAX;

  std::string_view domain;  // empty: ai.onnx
  std::string_view name;
  int64_t since = 1;
  bool deprecated = false;
  bool deterministic = true;
  bool has_body = false;  // ONNX defines it by other operators
  uint32_t min_inputs = 0;
  uint32_t max_inputs = 0;
  uint32_t min_outputs = 0;
  uint32_t max_outputs = 0;
  std::vector<ArgumentSchema> inputs;
  std::vector<ArgumentSchema> outputs;
  std::vector<AttributeSchema> attributes;

  const AttributeSchema* find_attribute(std::string_view attribute) const;
  // The argument that input or output number `index` belongs to: the last one if that is variadic; nullptr beyond.
  const ArgumentSchema* input(uint32_t index) const;
  const ArgumentSchema* output(uint32_t index) const;
};

// The version of an operator that holds in operator set `version` of its domain; nullptr if there is none. The domain
// `ai.onnx` is the empty one. Text is parsed at the first call for an operator version; safe from several threads.
const Schema* find_schema(std::string_view domain, std::string_view name, int64_t version);
// All versions of an operator, ascending; empty if it is not known.
std::vector<const Schema*> schema_versions(std::string_view domain, std::string_view name);

struct OperatorName {
  std::string_view domain;
  std::string_view name;
};
std::span<const OperatorName> operator_names();  // sorted by domain and name, each once
// True if any version of the operator is known; parses nothing.
bool is_known_operator(std::string_view domain, std::string_view name);
// `ai.onnx` is written as the empty domain everywhere within.
std::string_view canonical_domain(std::string_view domain);
// Newest operator-set version of a domain that is known; empty for unknown domains.
std::optional<int64_t> newest_version(std::string_view domain);

// A release of onnx: its IR version and the newest operator-set version of each domain; 0 where it has none.
struct Release {
  std::string_view name;  // `1.21.0`
  int64_t ir;
  int64_t opset;     // ai.onnx
  int64_t ml;        // ai.onnx.ml
  int64_t training;  // ai.onnx.preview.training
};
std::span<const Release> releases();  // ascending
int64_t newest_ir_version();

}  // namespace assay::schema
