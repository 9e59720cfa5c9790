// The place of the greatest or least element along [outer, kReduced, kInner]: a thread a result, or a block, where rows
// are long.
#if kIsFloat
typedef float Element;
DEVICE Element read(T x) { return widened(x); }
#else
typedef T Element;
DEVICE Element read(T x) { return x; }
#endif

// True if an element at a later place wins; what is no number wins over all that are.
DEVICE bool wins(Element x, Element best) {
  const bool is_equal = x == best || (x != x && best != best);
  if (is_equal) return kTakesLast;
  return best == best && (x != x || (kIsMaximum ? x > best : x < best));
}

KERNEL(kThreads) {
#if kIsRow
  SHARED Element elements[kThreads];
  SHARED int places[kThreads];
  const int thread = (int)thread_index();
  const T* const from = kIn + (int64)block_x() * kReduced;
  int best = thread < kReduced ? thread : -1;
  Element most = read(from[best < 0 ? 0 : best]);
  for (int i = thread + kThreads; i < kReduced; i += kThreads) {
    const Element x = read(from[i]);
    if (!wins(x, most)) continue;
    best = i;
    most = x;
  }
  elements[thread] = most;
  places[thread] = best;
  for (int distance = kThreads / 2; distance > 0; distance /= 2) {
    meet();
    const int other = thread + distance;
    if (thread >= distance || places[other] < 0) continue;
    const bool is_later = places[other] > places[thread];
    if (is_later ? wins(elements[other], elements[thread]) : !wins(elements[thread], elements[other])) {
      elements[thread] = elements[other];
      places[thread] = places[other];
    }
  }
  if (thread == 0) kOut[block_x()] = places[0];
#else
  const uint32 result = block_x() * kThreads + thread_index();
  if (result >= (uint32)kResults) return;
  const uint32 outer = quotient(result, kInner);
  const T* const from = kIn + (int64)outer * kReduced * kInner.divisor + (result - outer * kInner.divisor);
  int best = 0;
  Element most = read(from[0]);
  for (int i = 1; i < kReduced; ++i) {
    const Element x = read(from[(int64)i * kInner.divisor]);
    if (!wins(x, most)) continue;
    best = i;
    most = x;
  }
  kOut[result] = best;
#endif
}
