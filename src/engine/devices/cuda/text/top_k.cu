// The kCount best of kLength elements, the best first, of equal ones that at the lower place: a block a row. It finds the
// digits of the last one that is taken, the highest first, then those of its place, and sorts what it takes.
#define kDigits 256
#define kPasses ((int)sizeof(Key))  // over elements; as many as kPlaceDigits follow over places

DEVICE Key key_of(T x) {
#if kIsFloat
  const float number = widened(x) == 0 ? 0.0f : widened(x);
  const uint32 bits = bits_of_float(number);
  const Key key = number != number ? 0xffffffffu : bits >> 31 ? ~bits : bits | 0x80000000u;
#else
  const Key key = (T)-1 < 0 ? (Key)x ^ (Key)1 << (8 * sizeof(Key) - 1) : (Key)x;
#endif
  return kTakesLargest ? key : (Key)~key;
}

// What is known of the last one that is taken.
struct Last {
  Key key, key_mask;
  uint32 place, place_mask;  // ~ of the place, so that the lower place is better
};

DEVICE bool is_behind(Key a, uint32 a_place, Key b, uint32 b_place) { return a < b || (a == b && a_place > b_place); }

KERNEL(kThreads) {
  DYNAMIC_SHARED(memory);
  SHARED int counts[kDigits];
  SHARED int groups[32];
  SHARED int found[3];  // the digit, how many are left to take, and whether these are all of it
  const int thread = (int)thread_index();
  const uint32 row = block_x();
  const T* const x = kIn + (int64)row * kLength;
  Last last = {0, 0, 0, 0};
  int left = kCount;
  for (int pass = 0; pass < kPasses + kPlaceDigits; ++pass) {
    const bool is_of_key = pass < kPasses;
    const int shift = 8 * (is_of_key ? kPasses - 1 - pass : kPasses + kPlaceDigits - 1 - pass);
    for (int i = thread; i < kDigits; i += kThreads) counts[i] = 0;
    meet();
    for (int i = thread; i < kLength; i += kThreads) {
      const Key key = key_of(x[i]);
      if ((key & last.key_mask) != last.key || (~(uint32)i & last.place_mask) != last.place) continue;
      add_to(counts + (int)((is_of_key ? key >> shift : (Key)(~(uint32)i >> shift)) & 255), 1);
    }
    meet();
    if (thread < 32) {
      int sum = 0;
      for (int i = 0; i < 8; ++i) sum += counts[thread * 8 + i];
      groups[thread] = sum;
    }
    meet();
    if (thread == 0) {
      int group = 31;
      for (; groups[group] < left; --group) left -= groups[group];
      int digit = group * 8 + 7;
      for (; counts[digit] < left; --digit) left -= counts[digit];
      found[0] = digit;
      found[1] = left;
      found[2] = counts[digit] == left;
    }
    meet();
    left = found[1];
    if (is_of_key) {
      last.key |= (Key)found[0] << shift;
      last.key_mask |= (Key)255 << shift;
    } else {
      last.place |= (uint32)found[0] << shift;
      last.place_mask |= 255u << shift;
    }
    if (found[2] != 0) break;
  }

  Key* const keys = kIsShared ? (Key*)memory : (Key*)kWorkspace + (int64)row * kSorted;
  int* const places = kIsShared ? (int*)(memory + kSorted * sizeof(Key)) : kPlaces + (int64)row * kSorted;
  meet();
  if (thread == 0) counts[0] = 0;
  meet();
  for (int i = thread; i < kLength; i += kThreads) {
    const Key key = key_of(x[i]), digits = key & last.key_mask;
    if (digits < last.key || (digits == last.key && (~(uint32)i & last.place_mask) < last.place)) continue;
    const int slot = add_to(counts, 1);
    keys[slot] = key;
    places[slot] = i;
  }
  for (int i = kCount + thread; i < kSorted; i += kThreads) {
    keys[i] = 0;
    places[i] = 0x7fffffff;
  }
  meet();
  for (int size = 2; size <= kSorted; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      for (int i = thread; i < kSorted; i += kThreads) {
        const int other = i ^ step;
        if (other < i) continue;
        const bool is_turned = (i & size) != 0;
        if (is_behind(keys[i], (uint32)places[i], keys[other], (uint32)places[other]) == is_turned) continue;
        const Key key = keys[i];
        keys[i] = keys[other];
        keys[other] = key;
        const int place = places[i];
        places[i] = places[other];
        places[other] = place;
      }
      meet();
    }
  }
  for (int i = thread; i < kCount; i += kThreads) {
    const int64 at = (int64)row * kCount + i;
    if (kGivesValues) kValues[at] = x[places[i]];
    if (kGivesIndices) kIndices[at] = places[i];
  }
}
