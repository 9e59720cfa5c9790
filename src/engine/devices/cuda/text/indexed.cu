// Rows of kLength elements at the places of data that indices name; the other side has them one behind the other.
// `place_of` gives the place of an element of a row, or of kPack neighbours; -1: an index is out of range.
#define TAKE 0    // from the data to the side
#define CLEAR 1   // the tables of updates
#define MARK 2    // which update is the first and the last one of a place
#define REPLACE 3
#define COMBINE 4
#define SUM 0
#define PRODUCT 1
#define LARGEST 2
#define LEAST 3

DEVICE T combined(T a, T b) {
#if kIsFloat
  const float x = widened(a), y = widened(b);
  if (kReduction == SUM) return Narrow<T>::of(x + y);
  if (kReduction == PRODUCT) return Narrow<T>::of(x * y);
#else
  const T x = a, y = b;
  if (kReduction == SUM) return exact_add(x, y);
  if (kReduction == PRODUCT) return exact_multiply(x, y);
#endif
  if (x != x || y != y) return x != x ? a : b;
  return (kReduction == LARGEST ? y > x : y < x) ? b : a;
}

KERNEL(kThreads) {
  const uint32 element = block_x() * kThreads + thread_index();
  if (element >= (uint32)kElements) return;
#if kStep == CLEAR
  kFirst[element] = 0x7fffffff;
  kLast[element] = -1;
#elif kStep == MARK
  const uint32 row = kIsByElement ? quotient(element, kLength) : element;
  const int64 place = place_of(p, row, kIsByElement ? element - row * kLength.divisor : 0);
  const int unit = place < 0 ? -1 : kIsByElement ? (int)place : (int)quotient((uint32)place, kLength);
  kUnits[element] = unit;
  if (unit < 0) return;
  keep_least(kFirst + unit, (int)element);
  keep_greatest(kLast + unit, (int)element);
#elif kStep == TAKE
  const uint32 row = quotient(element, kLength);
  const int64 place = place_of(p, row, (element - row * kLength.divisor) * kPack);
  if (place >= 0) store_pack<T, kPack>(kSide + (int64)element * kPack, load_pack<T, kPack>(kData + place));
#else
  const uint32 row = quotient(element, kLength);
  const uint32 update = kIsByElement ? element : row;
  const int unit = kUnits[update];
  if (unit < 0) return;
  const int64 step = kIsByElement ? 1 : (int64)kLength.divisor;
  const int64 column = kIsByElement ? 0 : element - row * kLength.divisor;
  const int64 place = unit * step + column;
  const int last = kLast[unit];
#if kStep == REPLACE
  if (last == (int)update) kData[place] = kSide[element];
#else
  if (kFirst[unit] != (int)update) return;
  T made = kData[place];
  for (int i = (int)update; i <= last; ++i) {
    if (kUnits[i] == unit) made = combined(made, kSide[i * step + column]);
  }
  kData[place] = made;
#endif
#endif
}
