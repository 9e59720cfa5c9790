#pragma once

#include <optional>
#include <string>

#include "engine/device/kernel_code.h"

namespace assay::engine {

// Proof that a program of this user put the code into a plan: a digest under a key in the user's folder for settings,
// which nobody else may read. Compiled code does whatever it says, so that of others is not run unasked.
class CodeSeal {
 public:
  // With the user's key. Nullopt: there is none, or others can read it.
  static std::optional<CodeSeal> find();
  // Likewise; makes a key where there is none.
  static std::optional<CodeSeal> make();

  std::string of(const std::string& device, const KernelCode& code) const;

 private:
  explicit CodeSeal(std::string key) : key_(std::move(key)) {}
  std::string key_;
};

}  // namespace assay::engine
