#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "exec/feeds.h"

namespace assay::exec {

// A shape for inputs whose name matches a wildcard; -1: from the model. For an input whose elements decide shapes and
// that has as many as there are numbers here, they are its elements.
struct InputShape {
  std::string pattern;
  tensor::Shape dims;
};

// `name:[1,3,-1]`; nullopt: it is something else.
std::optional<InputShape> parse_input_shape(std::string_view text);

// The role of an input, derived from the nodes that use it.
struct InputRole {
  enum class Kind : uint8_t { index, mask };
  std::string name;
  Kind kind;
  int64_t rows = 0;  // of the smallest table that an index looks into
};

// Least and greatest value of inputs whose name matches a wildcard; integers take both ends.
struct InputRange {
  std::string pattern;
  double low = 0;
  double high = 1;
};

struct GenerateOptions {
  uint64_t seed = 1;
  std::vector<InputShape> shapes;
  std::vector<InputRange> ranges;           // the last one that matches counts; default [0, 1]
  std::optional<InputRange> integer_range;  // of integers that `ranges` does not name
  std::optional<InputRange> float_range;
  std::vector<InputRole> roles;
  bool is_sensible = false;  // draw according to roles: indices from the whole table, masks of ones
  uint64_t max_bytes = 0;    // of all inputs together; 0: the machine's memory
};

// The shape that the model and the options give an input, -1 where both leave a dim open; none: not even a rank is
// known. Errors as of generate_inputs().
std::optional<tensor::Shape> asked_shape(const Port& input, const GenerateOptions& options);

// The code of the finding about a shape that nothing fixes.
inline constexpr std::string_view kMadeUpShape = "input_shape";

// One set of inputs, drawn in the order of the signature's from one stream of NumPy, as the peer's. Indices beyond
// their table are wrapped into it, and dims that nothing fixes are 1, which `findings` says. Error (unsupported) for
// inputs that are no tensors, (usage) for shapes and ranges that do not fit, (limit) before more memory is taken than
// allowed.
std::vector<Feed> generate_inputs(const Signature& signature, const GenerateOptions& options, Diagnostics& findings);

}  // namespace assay::exec
