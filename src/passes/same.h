#pragma once

#include <cstdint>
#include <optional>

#include "ir/model.h"

namespace assay::passes {

uint64_t mix(uint64_t hash, uint64_t word);

// Tensors that are the same have the same hashes.
uint64_t type_hash(const tensor::Tensor& tensor);  // of element type and shape; reads no elements
// And of a few kilobytes of the elements; empty where they cannot be read.
std::optional<uint64_t> sample_hash(const tensor::Tensor& tensor);
// Same element type, shape and bits; not where they cannot be read.
bool is_same(const tensor::Tensor& a, const tensor::Tensor& b);

// A hash of an attribute without bodies: name, type and content.
uint64_t hash(const ir::Model& model, const ir::Attribute& attribute);
bool is_same(const ir::Model& model, const ir::Attribute& a, const ir::Attribute& b);

}  // namespace assay::passes
