#pragma once

#include <chrono>
#include <thread>

namespace assay::backends {

// Looks for a change for a while, so that a thread need not fall asleep and be woken: ranks that do the same work come
// at once. Where threads share cores, they need these for their work.
template <typename Done>
void look_for(std::chrono::microseconds longest, size_t threads, Done&& done) {
  static const unsigned cores = std::thread::hardware_concurrency();
  if (cores < 2 * threads) return;
  const auto begin = std::chrono::steady_clock::now();
  while (!done() && std::chrono::steady_clock::now() - begin < longest) continue;
}

}  // namespace assay::backends
