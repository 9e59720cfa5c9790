#pragma once

#include <string>
#include <string_view>

#include "engine/devices/cuda/driver/api.h"

namespace assay::engine::cuda {

// A driver that has been initialised.
class Driver {
 public:
  // The one of this machine; null with a reason: there is none, or no card.
  static const Driver* find(std::string& reason);
  explicit Driver(const Api& api);

  const Api& api() const { return api_; }
  int version() const { return version_; }  // 13000: 13.0
  int card_count() const { return cards_; }
  // Throws what a function of the driver answers, unless that is success: a limit if memory is short.
  void check(Result result, std::string_view what) const;

 private:
  Api api_;
  int version_ = 0;
  int cards_ = 0;
};

// `CUDA_ERROR_OUT_OF_MEMORY (out of memory)`.
std::string text_of(const Api& api, Result result);

}  // namespace assay::engine::cuda
