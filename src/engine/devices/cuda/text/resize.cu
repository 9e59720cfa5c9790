// Resampling along the dims: for each place along a dim, kTerms elements and their weights. A thread a result.
KERNEL(kThreads) {
  const uint32 result = block_x() * kThreads + thread_index();
  if (result >= (uint32)kResults) return;
  kOut[result] = Narrow<T>::of(sampled(p, result));
}
