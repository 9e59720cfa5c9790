// Before a GroupQueryAttention: the caches with the keys and values of the past, the new ones and zeros, and queries that
// are turned by their positions. A thread an element.
DEVICE float turned(const Params& p, const T* head, int e, int position) {
  const float x = widened(head[e]);
  if (!kTurns || e >= 2 * kHalf) return x;
  const int pair = kInterleaves ? e / 2 : e % kHalf;
  const bool is_second = kInterleaves ? e % 2 == 1 : e >= kHalf;
  const int other = kInterleaves ? e ^ 1 : is_second ? e - kHalf : e + kHalf;
  const float cosine = widened(kCosines[(int64)position * kHalf + pair]), sine = widened(kSines[(int64)position * kHalf + pair]);
  const float y = widened(head[other]);
  const float a = rounded_product(cosine, x), b = rounded_product(sine, y);
  return is_second ? b + a : a - b;
}

// Tokens of the past; -1: they do not fit.
DEVICE int past_of(const Params& p, uint32 batch) {
  const int last = kLast[batch];
  const int past = kIsPrompt ? 0 : last + 1 - kLength;
  const bool fits = last >= 0 && last < kPresent && past >= 0 && past + kLength <= kPresent;
  if (fits && (!kTurns || past + kLength <= kAngles)) return past;
  *kFault = 1;
  return -1;
}

KERNEL(kThreads) {
  const uint32 element = block_x() * kThreads + thread_index();
  if (element >= (uint32)kElements) return;
  uint32 rest = quotient(element, kSize);
  const int e = (int)(element - rest * kSize.divisor);
#if kIsCache
  const uint32 head_row = quotient(rest, kRows);
  const int token = (int)(rest - head_row * kRows.divisor);
  const uint32 batch = quotient(head_row, kHeads);
  const int head = (int)(head_row - batch * kHeads.divisor);
#else
  const uint32 head_row = 0;
  const uint32 row = quotient(rest, kHeads);
  const int head = (int)(rest - row * kHeads.divisor);
  const uint32 batch = quotient(row, kRows);
  const int token = (int)(row - batch * kRows.divisor);
#endif
  const int past = past_of(p, batch);
  if (past < 0) return;
  const int fresh = kIsCache ? token - past : token;
  float made = 0;
  if (fresh < 0) {
    if (token < kRoom) made = widened(kPast[((int64)head_row * kRoom + token) * kSize.divisor + e]);
  } else if (fresh < kLength) {
    const T* const from = kFrom + ((int64)batch * kLength + fresh) * kColumns + kFirst + head * (int)kSize.divisor;
    made = turned(p, from, e, past + fresh);
  }
  kTo[element] = Narrow<T>::of(made);
}
