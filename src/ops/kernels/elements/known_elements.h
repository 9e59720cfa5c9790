#pragma once

#include "ops/infer.h"

namespace assay::ops {

// The elements of an integer input as broadcast to a shape that it fits; empty if not even their number is known.
std::optional<std::vector<Dim>> broadcast_elements(const Infer& node, uint32_t input, const tensor::Shape& to);

// What is known of a < b: true, false or nothing. Symbols stand for sizes, which are not negative.
std::optional<bool> known_less(const Dim& a, const Dim& b);
std::optional<bool> known_equal(const Dim& a, const Dim& b);

// 1, 0 or an unknown element.
inline Dim element_of(std::optional<bool> known) { return known ? Dim(*known ? 1 : 0) : Dim(); }

}  // namespace assay::ops
