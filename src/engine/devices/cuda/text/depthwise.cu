// Convolutions of channels apart, channels last: a thread makes kPack channels of a pixel, from as many of the picture
// (depthwise_window.cu). The filters of the first lines are read before the launch before has ended.
EARLY_KERNEL(kThreads) {
  const uint32 thread = block_x() * kThreads + thread_index();
  const uint32 piece = thread < (uint32)kPieces ? thread : 0;
  const uint32 pixel = quotient(piece, kByChannels);
  const uint32 channel = (piece - pixel * kByChannels.divisor) * kPack;
  Raw<T, kPack> filters[kTaps];
  load_filters(p, 0, channel, filters);
  const Place place = place_of(p, pixel, channel);
  AFTER_THE_ONE_BEFORE();
  if (thread >= (uint32)kPieces) return;
  Operands operands[kPack / kTaken];
#pragma unroll
  for (int i = 0; i < kPack / kTaken; ++i) operands[i] = operands_of(p, pixel * (uint32)kChannels + channel + (uint32)(i * kTaken));
  float sums[kPack];
  sum_window(p, place, channel, filters, sums);
#pragma unroll
  for (int i = 0; i < kPack; i += kTaken) {
    Pack<float, kTaken> given;
#pragma unroll
    for (int e = 0; e < kTaken; ++e) given.e[e] = sums[i + e];
    finish(p, given, operands[i / kTaken]);
  }
}
