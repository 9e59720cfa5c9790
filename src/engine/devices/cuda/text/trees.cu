// Trees: a thread a row. Scores are added in float64, tree by tree; in the workspace they lie row beside row.
#define LEAF 7
#define SUM 1
#define AVERAGE 0
#define LEAST 2
#define SOFTMAX 1
#define LOGISTIC 2

struct Node {
  double value;
  int feature, test, when_true, when_false;  // of a leaf: its first weight, and the one behind its last
  int missing_is_true, unused;
};
struct Weight {
  double weight;
  int target, unused;
};

DEVICE bool holds(const Node& node, double x) {
  if (x != x && node.missing_is_true != 0) return true;
  switch (node.test) {
    case 0:
      return x <= node.value;
    case 1:
      return x < node.value;
    case 2:
      return x >= node.value;
    case 3:
      return x > node.value;
    case 4:
      return x == node.value;
    default:
      return x != node.value;
  }
}
DEVICE double logistic(double x) {
  const double large = 1 / (1 + exp(-fabs(x)));
  return x < 0 ? 1 - large : large;
}

KERNEL(kThreads) {
  const uint32 row = block_x() * kThreads + thread_index();
  if (row >= (uint32)kRows) return;
  double* const scores = kScores + row;  // kRows apart
  const int64 step = kRows;
  for (int i = 0; i < kTargets; ++i) scores[i * step] = kNone;
  for (int tree = 0; tree < kTrees; ++tree) {
    int place = kRoots[tree];
    while (kNodes[place].test != LEAF) {
      const Node node = kNodes[place];
      place = holds(node, (double)kIn[(int64)row * kWidth + node.feature]) ? node.when_true : node.when_false;
    }
    for (int i = kNodes[place].when_true; i < kNodes[place].when_false; ++i) {
      double& score = scores[kWeights[i].target * step];
      const double weight = kWeights[i].weight;
      if (score != score) {
        score = weight;
      } else if (kAggregate == AVERAGE || kAggregate == SUM) {
        score += weight;
      } else if (kAggregate == LEAST ? weight < score : weight > score) {
        score = weight;
      }
    }
  }
  const bool has_second = kTargets > 1 && scores[step] == scores[step];
  for (int i = 0; i < kTargets; ++i) {
    double score = scores[i * step] == scores[i * step] ? scores[i * step] : 0.0;
    if (kAggregate == AVERAGE) score /= kTrees;
    if (kBases > 0) score += kBase[kBases == 1 ? 0 : i];
    scores[i * step] = score;
  }
  int best = 0;
  for (int i = 1; i < kTargets; ++i) {
    if (scores[i * step] > scores[best * step]) best = i;
  }
#if kIsBinary
  const double score = has_second ? scores[step] : scores[0];
  const bool is_second = score > (kArePositive ? 0.5 : 0.0);
  kLabels[row] = kTargets == 2 ? kNames[is_second] : is_second;
  if (!has_second) {
    const bool turns = kTransform == LOGISTIC;
    kOut[(int64)row * 2] = (float)(turns ? logistic(-score) : kArePositive ? 1 - score : -score);
    kOut[(int64)row * 2 + 1] = (float)(turns ? logistic(score) : score);
    return;
  }
#elif kIsClassifier
  kLabels[row] = kNames[best];
#endif
  const bool is_changed = kIsClassifier || kTargets > 1;  // a single score of a regression stays as it is
  double sum = 1;
  if (kTransform == SOFTMAX && is_changed) {
    const double top = scores[best * step];
    sum = 0;
    for (int i = 0; i < kTargets; ++i) {
      scores[i * step] = exp(scores[i * step] - top);
      sum += scores[i * step];
    }
  }
  for (int i = 0; i < kTargets; ++i) {
    const double made = kTransform == LOGISTIC && is_changed ? logistic(scores[i * step]) : scores[i * step] / sum;
    kOut[(int64)row * kTargets + i] = (float)made;
  }
}
