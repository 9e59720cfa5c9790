#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::formats {

// The description in a pickle, as data: nothing is looked up, called or imported.
struct PickleValue {
  // A global is `module name`; a call has the callee and its arguments as items; a persistent value has its id.
  enum class Kind : uint8_t { none, boolean, integer, text, global, tuple, call, persistent };
  Kind kind = Kind::none;
  int64_t number = 0;
  std::string text;
  std::vector<std::shared_ptr<const PickleValue>> items;
};
using PicklePtr = std::shared_ptr<const PickleValue>;

// Pickles of protocol 2, as far as tensors of torch need them. Error (parse) for others, and for long ones.
PicklePtr read_pickle(std::string_view bytes);

}  // namespace assay::formats
