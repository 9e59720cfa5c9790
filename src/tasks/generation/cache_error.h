#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/feedback.h"
#include "tensor/named.h"

namespace assay::tasks {

struct CacheError {
  double max_abs = 0;
  double relative = 0;  // norm of the difference beside that of the first side's
  std::string worst;    // the cache with the greatest difference
};

// Copies of what a step wrote into its caches, in the order of the rules: `now` positions behind `past`; all of a cache
// whose positions are not known. One without elements: the side did not give it.
std::vector<tensor::Tensor> written_parts(const std::vector<analysis::CacheFeed>& caches,
                                          const tensor::NamedData& outputs, uint64_t past, uint64_t now);

// The difference of what one step of two sides wrote. Nullopt: there is no cache, or a side did not give them.
std::optional<CacheError> cache_error(const std::vector<analysis::CacheFeed>& caches,
                                      const std::vector<tensor::Tensor>& first,
                                      const std::vector<tensor::Tensor>& other);

}  // namespace assay::tasks
