#pragma once

#include "ops/infer.h"

namespace assay::ops {

// Larger integer tensors are data, not shapes: nothing is known of their elements.
inline constexpr uint64_t kMaxKnownElements = 4096;

// The number of elements of a shape, where they can be known.
std::optional<uint64_t> knowable_count(const tensor::Shape& shape);

// The elements of an integer input as broadcast to a shape that it fits; empty if not even their number is known,
// or if it is large.
std::optional<std::vector<Dim>> broadcast_elements(const Infer& node, uint32_t input, const tensor::Shape& to);

// The known order of a and b: true if a < b, false if not, or nullopt. Symbols stand for sizes, which are not negative.
std::optional<bool> known_less(const Dim& a, const Dim& b);
std::optional<bool> known_equal(const Dim& a, const Dim& b);

// 1, 0 or an unknown element.
inline Dim element_of(std::optional<bool> known) { return known ? Dim(*known ? 1 : 0) : Dim(); }

}  // namespace assay::ops
