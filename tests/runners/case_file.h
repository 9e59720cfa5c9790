#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runners/value_compare.h"
#include "tensor/shape.h"

// What a .case file says (tests/cases/README.md), before variables are replaced.
namespace assay::cases {

enum class Fill { elements, value, iota, random, bits, unset };

// A value as it is written: a tensor by its elements or a rule that makes them, or what holds tensors.
struct Literal {
  enum class Kind { tensor, sequence, optional, none, map };
  Kind kind = Kind::tensor;
  std::string dtype;  // a type's name, a variable, or empty where a value stands behind a declared type
  tensor::Shape dims;
  Fill fill = Fill::unset;
  std::vector<std::string> words;    // elements, or the arguments of the rule
  std::vector<Literal> items;        // of sequences; the content of an optional; keys and values of a map
  bool is_sequence_element = false;  // of an empty sequence or optional: it would hold sequences of dtype
  int line = 0;
};

struct Input {
  std::string name;  // empty: an operand that is left out
  bool is_constant = false;
  Literal value;
};

// An expected value for one word of the variable that the output is given `by`; the only one has an empty key.
struct Expected {
  std::string key;
  Literal value;
  std::string source;
};

struct Output {
  std::string name;   // empty: a result that is left out
  std::string dtype;  // empty: not declared
  tensor::Shape dims;
  std::string variable;  // of `by`
  std::vector<Expected> expected;
  bool is_unfilled = false;  // `== ?`
  size_t begin = 0;          // in the file: what stands behind the name, up to the end of the expected value
  size_t end = 0;
  int line = 0;
};

// `text` is ONNX text, or the name of a type whose number is meant, or a tensor is set.
struct CaseAttribute {
  std::string name;
  std::string text;
  bool is_word = false;
  std::optional<Literal> tensor;
  int line = 0;
};

struct Variable {
  std::string name;
  std::vector<std::string> words;
};

// What the cases below it are about: an operator and the versions of its operator set, or a whole model.
struct Subject {
  std::string domain;
  std::string op;
  int64_t first_version = 0;
  int64_t last_version = 0;  // 0: the newest
  std::string model_text;
  int line = 0;
};

struct Case {
  std::string name;
  int line = 0;
  Subject subject;
  std::vector<Variable> variables;
  std::optional<Tolerance> tolerance;
  bool is_constant_ok = false;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<CaseAttribute> attributes;
  std::optional<std::string> error;  // a part of the line of the Error that must come
};

// A case that a backend is known to fail. If it passes, that is a failure.
struct Skip {
  std::string backend;
  std::string pattern;
  std::string reason;
};

struct CaseFile {
  std::filesystem::path path;
  std::vector<Case> cases;
  std::vector<Skip> skips;
};

// Error (parse) with `path:line: …` where the text is not as the format says.
CaseFile parse_case_file(const std::filesystem::path& path, std::string_view text);
CaseFile read_case_file(const std::filesystem::path& path);

}  // namespace assay::cases
