// Elements of the parts of ranks, taken together.
DEVICE float reduced(float a, float b) {
#if kReduction == 1
  return a * b;
#elif kReduction == 2
  return b < a ? b : a;
#elif kReduction == 3
  return a < b ? b : a;
#else
  return a + b;
#endif
}

DEVICE float finished(float x) {
#if kReduction == 4
  return x / (float)kRanks;
#else
  return x;
#endif
}
