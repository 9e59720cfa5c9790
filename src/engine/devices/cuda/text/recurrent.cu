// RNN, GRU and LSTM, after the products of all inputs: states are set, then come the steps, each after the one before,
// by launches or by a block that meets between them, then states are given out. A warp has a hidden element of kEntries
// entries of the batch. States lie [direction, entry, hidden], twice, so that a step reads those of the one before.
// Where weights are codes, a block makes codes of a direction's state in each step, and a thread has a hidden element.
#define SET 0
#define STEP 1
#define GIVE 2
#define INPUTS 3
#define RNN 0
#define GRU 1
#define LSTM 2
#define kWarps (kThreads / 32)
#define kTwoPhases (kOperator == GRU && !kResetsAfter)
#define FUNCTION(direction, i) p.n[kFunctions + (direction)*3 + (i)]

DEVICE float activated(int function, float x, float clip) {
  const float within = bounded(x, -clip, clip);
  return function == 0 ? sigmoid(within) : function == 1 ? tanhf(within) : relu(within);
}
DEVICE int64 state_count(const Params& p) { return (int64)kDirections * kBatch * kHidden; }
DEVICE float* state_at(const Params& p, int step) { return kH + (step & 1) * state_count(p); }
// Steps of an entry.
DEVICE int length_of(const Params& p, int entry) {
  if (!kHasLengths) return kLength;
  const int length = kLengths[entry];
  if (length >= 0 && length <= kLength) return length;
  *kFault = 1;
  return 0;
}
// The place of a state in an operand or result.
DEVICE int64 outer_state(const Params& p, int direction, int entry) {
  return (kIsBatchFirst ? (int64)entry * kDirections + direction : (int64)direction * kBatch + entry) * kHidden;
}

// Makes the state of one entry and hidden element of what the state before adds to its gates.
DEVICE void finish_unit(const Params& p, int step, int phase, int direction, int entry, int j, const float* sums) {
  const int64 at = ((int64)direction * kBatch + entry) * kHidden + j;
  float* const next = state_at(p, step + 1) + at;
  const float before = state_at(p, step)[at];
  const int length = length_of(p, entry);
  if (step >= length) {
    *next = before;
    return;
  }
  const int time = kGoesBack || direction == 1 ? length - 1 - step : step;
  const int64 row = kIsBatchFirst ? (int64)entry * kLength + time : (int64)time * kBatch + entry;
  float gates[kGates];
  float own = 0;
#pragma unroll
  for (int g = 0; g < kGates; ++g) {
    gates[g] = kInputs[(row * kDirections + direction) * kGates * kHidden + g * kHidden + j];
    if (kHasBias) {
      const float* const bias = kBias + ((int64)direction * 2 * kGates + g) * kHidden + j;
      const float recurrent = bias[(int64)kGates * kHidden];
      gates[g] += kResetsAfter && g == 2 ? bias[0] : bias[0] + recurrent;
      if (g == 2) own = recurrent;
    }
    if (!kResetsAfter || g != 2) gates[g] += sums[g];
  }
  const float clip = kClip;
  float made;
#if kOperator == RNN
  made = activated(FUNCTION(direction, 0), gates[0], clip);
#elif kOperator == GRU
  float update;
  if (!kTwoPhases || phase == 0) {
    update = activated(FUNCTION(direction, 0), gates[0], clip);
    const float reset = activated(FUNCTION(direction, 0), gates[1], clip);
    if (kTwoPhases) {
      kUpdate[at] = update;
      kReset[at] = reset * before;
      return;
    }
    gates[2] += reset * (sums[2] + own);
  } else {
    update = kUpdate[at];
  }
  made = (1.0f - update) * activated(FUNCTION(direction, 1), gates[2], clip) + update * before;
#else
  float c = kC[at];
  const float* const peepholes = kPeepholes + (int64)direction * 3 * kHidden + j;
  if (kHasPeepholes) {
    gates[0] += peepholes[0] * c;
    gates[2] += peepholes[2 * (int64)kHidden] * c;
  }
  const float in = activated(FUNCTION(direction, 0), gates[0], clip);
  const float keep = kCouples ? 1.0f - in : activated(FUNCTION(direction, 0), gates[2], clip);
  c = keep * c + in * activated(FUNCTION(direction, 1), gates[3], clip);
  if (kHasPeepholes) gates[1] += peepholes[kHidden] * c;
  kC[at] = c;
  made = activated(FUNCTION(direction, 0), gates[1], clip) * activated(FUNCTION(direction, 2), c, kInfinity);
#endif
  *next = made;
  if (!kGivesAll) return;
  const int64 place = kIsBatchFirst ? ((int64)entry * kLength + time) * kDirections + direction
                                    : ((int64)time * kDirections + direction) * kBatch + entry;
  kY[place * kHidden + j] = made;
}

#if kHasCodes
// Sums of kEntries rows of codes, from `first` of `rows` on, times kSums columns that lie `gap` apart.
template <int kSums>
DEVICE void multiply_codes(const uint8* rows, int count, int depth, int zero, const Code* weights, int columns, int gap,
                           const int* weight_zeros, int (*sums)[kSums]) {
#pragma unroll
  for (int e = 0; e < kEntries; ++e) {
#pragma unroll
    for (int g = 0; g < kSums; ++g) sums[e][g] = 0;
  }
  for (int k = 0; k < depth; ++k) {
    int x[kEntries];
#pragma unroll
    for (int e = 0; e < kEntries; ++e) x[e] = e < count ? (int)rows[(int64)e * depth + k] - zero : 0;
#pragma unroll
    for (int g = 0; g < kSums; ++g) {
      const int weight = (int)weights[(int64)k * columns + g * gap] - weight_zeros[g];
#pragma unroll
      for (int e = 0; e < kEntries; ++e) sums[e][g] += weight * x[e];
    }
  }
}
// The place of what a column has, or its whole direction.
DEVICE int fact_of_column(bool has_columns, int direction, int column, int columns) {
  return has_columns ? direction * columns + column : direction;
}

// The gates' share of all inputs: a thread has a column of a direction, a block kEntries rows.
DEVICE void multiply_inputs(const Params& p) {
  const int columns = kGates * kHidden;
  const int of_all = (int)(block_x() * kThreads + thread_index()), row = (int)block_y() * kEntries;
  if (of_all >= kDirections * columns) return;
  const int direction = of_all / columns, column = of_all % columns;
  const int zero = kZerosOfW[fact_of_column(kZerosOfWHaveColumns, direction, column, columns)];
  int sums[kEntries][1];
  multiply_codes<1>(kCodesOfX + (int64)row * kInput, kRows - row, kInput, (int)*kZeroOfX,
                    kW + (int64)direction * kInput * columns + column, columns, 0, &zero, sums);
  const float scale = *kScaleOfX * kScalesOfW[fact_of_column(kScalesOfWHaveColumns, direction, column, columns)];
#pragma unroll
  for (int e = 0; e < kEntries; ++e) {
    if (row + e < kRows) kInputs[(int64)(row + e) * kDirections * columns + of_all] = (float)sums[e][0] * scale;
  }
}

DEVICE void run_coded_step(const Params& p, int step) {
  const int direction = (int)block_y(), thread = (int)thread_index(), columns = kGates * kHidden;
  const int64 count = (int64)kBatch * kHidden;
  const float* const state = state_at(p, step) + direction * count;
  uint8* const codes = kCodesOfH + direction * count;
  Range range = {0, 0};
  for (int64 i = thread; i < count; i += kThreads) {
    range.low = low_of(range.low, state[i]);
    range.high = high_of(range.high, state[i]);
  }
  const Coding coding = coding_of(block_range(range));
  for (int64 i = thread; i < count; i += kThreads) codes[i] = code_of(state[i], coding);
  meet();
  for (int first = 0; first < kBatch; first += kEntries) {
    for (int j = thread; j < kHidden; j += kThreads) {
      int zeros[kGates], sums[kEntries][kGates];
#pragma unroll
      for (int g = 0; g < kGates; ++g) {
        zeros[g] = kZerosOfR[fact_of_column(kZerosOfRHaveColumns, direction, g * kHidden + j, columns)];
      }
      multiply_codes<kGates>(codes + (int64)first * kHidden, kBatch - first, kHidden, (int)coding.zero,
                             kR + (int64)direction * kHidden * columns + j, columns, kHidden, zeros, sums);
#pragma unroll
      for (int e = 0; e < kEntries; ++e) {
        if (first + e >= kBatch) continue;
        float made[kGates];
#pragma unroll
        for (int g = 0; g < kGates; ++g) {
          const float scale = kScalesOfR[fact_of_column(kScalesOfRHaveColumns, direction, g * kHidden + j, columns)];
          made[g] = (float)sums[e][g] * (coding.scale * scale);
        }
        finish_unit(p, step, 0, direction, first + e, j, made);
      }
    }
  }
}
#else
DEVICE void run_phase(const Params& p, int step, int phase) {
  const int lane = (int)thread_index() % 32, warp = (int)thread_index() / 32;
  const int direction = (int)block_y() / kGroups, first = (int)block_y() % kGroups * kEntries;
  const int begin = kTwoPhases && phase == 1 ? 2 : 0, end = kTwoPhases && phase == 0 ? 2 : kGates;
  const float* const state = kTwoPhases && phase == 1 ? kReset : state_at(p, step);
  for (int j = (int)block_x() * kWarps + warp; j < kHidden; j += (int)blocks_x() * kWarps) {
    float sums[kEntries][kGates];
#pragma unroll
    for (int e = 0; e < kEntries; ++e) {
#pragma unroll
      for (int g = 0; g < kGates; ++g) sums[e][g] = 0;
    }
    for (int k = lane; k < kHidden; k += 32) {
      float x[kEntries];
#pragma unroll
      for (int e = 0; e < kEntries; ++e) {
        x[e] = first + e < kBatch ? state[((int64)direction * kBatch + first + e) * kHidden + k] : 0.0f;
      }
#pragma unroll
      for (int g = 0; g < kGates; ++g) {
        if (g < begin || g >= end) continue;
        const float weight = kR[(((int64)direction * kGates + g) * kHidden + j) * kHidden + k];
#pragma unroll
        for (int e = 0; e < kEntries; ++e) sums[e][g] = fmaf(weight, x[e], sums[e][g]);
      }
    }
#pragma unroll
    for (int e = 0; e < kEntries; ++e) {
#pragma unroll
      for (int g = 0; g < kGates; ++g) {
        if (g >= begin && g < end) sums[e][g] = warp_sum(sums[e][g]);
      }
      if (lane == e && first + e < kBatch) finish_unit(p, step, phase, direction, first + e, j, sums[e]);
    }
  }
}
#endif

KERNEL(kThreads) {
#if kKind == INPUTS
  multiply_inputs(p);
#elif kKind == STEP && kHasCodes
  for (int step = 0; step < kLength; ++step) {
    run_coded_step(p, step);
    meet();
  }
#elif kKind == STEP
  for (int step = kFirstStep; step < kEndStep; ++step) {
    for (int phase = kFirstPhase; phase < kEndPhase; ++phase) {
      run_phase(p, step, phase);
      if (kIsOfBlock) meet();
    }
  }
#else
  const int64 thread = (int64)block_x() * kThreads + thread_index(), threads = (int64)blocks_x() * kThreads;
  for (int64 i = thread; i < state_count(p); i += threads) {
    const int64 row = i / kHidden;
    const int direction = (int)(row / kBatch), entry = (int)(row % kBatch);
    const int64 outer = outer_state(p, direction, entry) + i % kHidden;
#if kKind == SET
    kH[i] = kHasH ? kFirstH[outer] : 0.0f;
    if (kOperator == LSTM) kC[i] = kHasC ? kFirstC[outer] : 0.0f;
#else
    const bool is_empty = length_of(p, entry) == 0;  // which has zeros
    if (kGivesH) kLastH[outer] = is_empty ? 0.0f : state_at(p, kLength)[i];
    if (kGivesC) kLastC[outer] = is_empty ? 0.0f : kC[i];
#endif
  }
#if kKind == SET
  if (!kGivesAll || !kHasLengths) return;
  const int64 all = state_count(p) * kLength;
  for (int64 i = thread; i < all; i += threads) kY[i] = 0;
#endif
#endif
}
