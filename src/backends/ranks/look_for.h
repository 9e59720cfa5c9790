#pragma once

#include <chrono>
#include <mutex>
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

// A lock of what others hold for moments only: to fall asleep and be woken would take longer.
inline std::unique_lock<std::mutex> quick_lock(std::mutex& mutex) {
  constexpr int kTries = 1000;
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int i = 0; i < kTries && !lock.owns_lock(); ++i) lock.try_lock();
  if (!lock.owns_lock()) lock.lock();
  return lock;
}

}  // namespace assay::backends
