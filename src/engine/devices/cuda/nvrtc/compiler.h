#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace assay::engine::cuda {

// Makes code of a card of texts.
class Compiler {
 public:
  virtual ~Compiler() = default;
  // Name and version, and whatever else decides about the code; part of the key of what is kept.
  virtual std::string identity() const = 0;
  // A text's code for an architecture, `sm_90a`. Error (backend) with the compiler's words.
  virtual std::vector<std::byte> compile(const std::string& text, const std::string& architecture) const = 0;
};

}  // namespace assay::engine::cuda
