#pragma once

#include <memory>

#include "engine/devices/cpu/device.h"

namespace assay::engine::cpu {

// `conv.winograd_codes`: convolutions 3 x 3 of codes at stride 1 by constant int8 weights, channels last, by the forms
// of exact_forms.h, with the sums that other tactics have. Variants as those of `conv.winograd`.
std::unique_ptr<Implementation> exact_winograd_layers();

}  // namespace assay::engine::cpu
