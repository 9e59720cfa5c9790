#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compare/options.h"
#include "tensor/named.h"

namespace assay::compare {

// `top-5,axis=1`
struct TopK {
  int64_t k = 0;
  int64_t axis = -1;
};

using PostProcessing = PerOutput<std::optional<TopK>>;

// The value after the settings of its name; sequences and maps are unchanged.
tensor::Datum post_process(std::string_view name, const tensor::Datum& value, const PostProcessing& settings);

}  // namespace assay::compare
