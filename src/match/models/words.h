#pragma once

#include <cstdint>
#include <string_view>

#include "ir/model.h"

namespace assay::match {

inline constexpr uint64_t kHashOfOmitted = 0x9ae16a3b2f90404fULL;
inline constexpr uint64_t kHashOfUnknown = 0xc3a5c85c97cb3127ULL;

uint64_t mix(uint64_t hash, uint64_t word);
uint64_t hash_text(std::string_view text);
// Element type, shape and some of the elements; elements that cannot be read are ignored.
uint64_t hash_tensor(const ir::TensorEntry& entry);
// Without the elements.
uint64_t hash_tensor_type(const ir::TensorEntry& entry);

}  // namespace assay::match
