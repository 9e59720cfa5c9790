// What texts of attention share: keys that a query sees, its scores, and the results that they weigh.

// Keys that a row of queries sees.
DEVICE int seen_by(const Params& p, const Places& at, int row) {
  int seen = kKeys;
  int past = kPast;
  if (kHasLast) {
    const int last = kLast[at.last];
    seen = last + 1 < seen ? last + 1 : seen;
    if (kEndsWithLast) past = last + 1 - kRows;
  }
  if (kIsCausal && past + row + 1 < seen) seen = past + row + 1;
  return seen < 0 ? 0 : seen;
}

// What is beside the score of a query and a key: a number that is added, and a condition that may hide it.
struct Beside {
  float mask;
  Conditions condition;
};
DEVICE Beside beside_of(const Params& p, const Places& at, int row, int key) {
  Beside beside = {};
  if (kHasConditions) {
    beside.condition = kConditions[at.conditions + (int64)row * kConditionsRow + (int64)key * kConditionsColumn];
  }
  if (kHasMask) beside.mask = widened(kMask[at.mask + (int64)row * kMaskRow + (int64)key * kMaskColumn]);
  return beside;
}
DEVICE float score_of(const Params& p, float sum, const Beside& beside) {
  float score = kDivides ? sum / kScaleBy : sum * kScaleBy;
  if (kHasConditions) {
    const bool hides = (beside.condition != 0) == (kHiddenWhere != 0);
    if (hides) score = kReplaces ? kHidden : score + kHidden;
  }
  if (kHasMask) score += beside.mask;
  return score;
}

// The greatest number of a row so far, without which its weights are taken.
DEVICE float base_of(float largest) { return largest == -kInfinity ? 0.0f : largest; }
// exp(score - base), as exact as weights of 16 bits need.
DEVICE float weight_of(float score, float base) {
  constexpr float kBits = 1.44269504088896341f;
  return quick_exp2(fmaf(score, kBits, -base * kBits));
}

// By how much a row is multiplied that has these weights in it, and the result then.
DEVICE float share_of(float largest, float sum) {
  const bool is_nothing = largest == -kInfinity || sum != sum;
  if ((kZeroesNothing && largest == -kInfinity) || (kZeroesNoNumber && is_nothing)) return 0;
  return 1.0f / sum;
}
DEVICE Out shared_out(float made, float share) { return Narrow<Out>::of(share == 0 ? 0.0f : made * share); }

