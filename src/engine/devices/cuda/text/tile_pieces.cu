// How tiles of operands come into shared memory (for tiles.cu, which names what is given).

// A row of the left tile: where a window begins.
struct Row {
  const T* first;
  int y, x;
  bool is_there;
};

DEVICE Row row_of(const Work& work, int row) {
  Row made;
  made.is_there = row < work.rows;
  if (!kIsWindow) {
    made.first = work.left + (int64)row * work.left_row;
    made.y = made.x = 0;
    return made;
  }
  const uint32 image = quotient((uint32)row, work.by_pixels);
  const uint32 pixel = (uint32)row - image * work.by_pixels.divisor;
  const uint32 y = quotient(pixel, work.by_width);
  const uint32 x = pixel - y * work.by_width.divisor;
  made.y = (int)y * work.stride_y - work.pad_top;
  made.x = (int)x * work.stride_x - work.pad_left;
  made.first = work.left + (int64)image * work.height * work.width * work.pixel;
  return made;
}

// The element of a row at a place along the depth; null: there is none, which is a zero.
DEVICE const T* left_at(const Work& work, const Row& row, int k) {
  if (!row.is_there || k >= work.depth) return nullptr;
  if (!kIsWindow) return row.first + (int64)k * work.left_column;
  const uint32 tap = quotient((uint32)k, work.by_channels);
  const int channel = k - (int)(tap * work.by_channels.divisor);
  const uint32 tap_y = quotient(tap, work.by_taps);
  const int y = row.y + (int)tap_y * work.dilation_y;
  const int x = row.x + (int)(tap - tap_y * work.by_taps.divisor) * work.dilation_x;
  if ((uint32)y >= (uint32)work.height || (uint32)x >= (uint32)work.width) return nullptr;
  return row.first + ((int64)y * work.width + x) * work.pixel + channel;
}

DEVICE const T* right_at(const Work& work, int column, int k) {
  if (column >= work.columns || k >= work.depth) return nullptr;
  return work.right + (int64)k * work.right_row + (int64)column * work.right_column;
}

// Neighbours along the depth, one by one, or expanded from codes.
DEVICE Pack<T, kPack> right_pack(const Work& work, int column, int k) {
  Pack<T, kPack> pack;
#if kRightIsCompressed
  for (int first = 0; first < kPack; first += 4) {
    const Pack<float, 4> four = column < work.columns ? four_weights(work.codes, column, k + first) : Pack<float, 4>();
    for (int e = 0; e < 4; ++e) pack.e[first + e] = Narrow<T>::of(four.e[e]);
  }
#else
  for (int e = 0; e < kPack; ++e) {
    const T* const from = right_at(work, column, k + e);
    pack.e[e] = from == nullptr ? T() : *from;
  }
#endif
  return pack;
}

// What a row of the left has where there is no element.
DEVICE T nothing() {
  T zero = {kZeroCode};
  return zero;
}
#if kIsWindow && kStepInTap
// The place of the window that a step looks through.
struct Tap {
  int y, x, channel;
};
DEVICE Tap tap_of(const Work& work, int k) {
  const uint32 tap = quotient((uint32)k, work.by_channels);
  const uint32 y = quotient(tap, work.by_taps);
  return {(int)y * work.dilation_y, (int)(tap - y * work.by_taps.divisor) * work.dilation_x,
          k - (int)(tap * work.by_channels.divisor)};
}
// Where a row looks through the tap; `is_there`: within the picture.
DEVICE const T* left_through(const Work& work, const Row& row, const Tap& tap, bool& is_there) {
  const int y = row.y + tap.y, x = row.x + tap.x;
  is_there = row.is_there && (uint32)y < (uint32)work.height && (uint32)x < (uint32)work.width;
  return row.first + ((int64)y * work.width + x) * work.pixel + tap.channel;
}
#endif

// Bring the tiles of one step into shared memory. `kIsEven`: packs are, where there are packs.
template <bool kIsEven>
DEVICE void load_left(const Work& work, const Row* rows, int k, T* left) {
  const int thread = (int)thread_index();
  const int kLeft = kRows * kChunks;
#if kIsWindow && kStepInTap
  const Tap tap = tap_of(work, k);
#endif
#pragma unroll
  for (int i = 0; i < (kLeft + kThreads - 1) / kThreads; ++i) {
    const int piece = thread + i * kThreads;
    if (kLeft % kThreads != 0 && piece >= kLeft) break;
    const int row = piece / kChunks, chunk = piece % kChunks;
    T* const to = left + place_in(row, chunk);
    if (kLeftPacks) {
#if kIsWindow && kStepInTap
      bool is_there;
      const T* const from = left_through(work, rows[i], tap, is_there) + chunk * kPack;
#elif kIsWindow
      const T* const from = left_at(work, rows[i], k + chunk * kPack);
      const bool is_there = from != nullptr;
#else
      const T* const from = rows[i].first + (k + chunk * kPack);
      const bool is_there = rows[i].is_there && k + chunk * kPack < work.depth;
#endif
      if (kIsEven && kZeroCode == 0) {
        copy_or_zero(to, is_there ? from : work.left, is_there);
      } else {
        copy_or_fill(to, is_there ? from : nullptr, nothing());
      }
    } else {
      Pack<T, kPack> pack;
      for (int e = 0; e < kPack; ++e) {
        const T* const from = left_at(work, rows[i], k + chunk * kPack + e);
        pack.e[e] = from == nullptr ? nothing() : *from;
      }
      *(Pack<T, kPack>*)to = pack;
    }
  }
}
template <bool kIsEven>
DEVICE void load_right(const Work& work, const T* const* columns, int first_column, int k, T* right) {
  const int thread = (int)thread_index();
  const int kRight = kColumns * kChunks;
#pragma unroll
  for (int i = 0; i < (kRight + kThreads - 1) / kThreads; ++i) {
    const int piece = thread + i * kThreads;
    if (kRight % kThreads != 0 && piece >= kRight) break;
    // Where columns are neighbours in memory, threads that are neighbours read them.
    const int row = kRightTurned ? piece % kColumns : piece / kChunks;
    const int chunk = kRightTurned ? piece / kColumns : piece % kChunks;
    T* const to = right + place_in(row, chunk);
    if (kRightPacks) {
      const bool is_there = columns[i] != nullptr && k + chunk * kPack < work.depth;
      const T* const from = is_there ? columns[i] + (k + chunk * kPack) : work.right;
      if (kIsEven) {
        copy_or_zero(to, from, is_there);
      } else {
        copy_or_fill(to, is_there ? from : nullptr, T());
      }
    } else {
      *(Pack<T, kPack>*)to = right_pack(work, first_column + row, k + chunk * kPack);
    }
  }
}

#if kIsStraight
#define kLeftPieces ((kRows * kChunks + kThreads - 1) / kThreads)
#define kRightPieces ((kColumns * kChunks + kThreads - 1) / kThreads)
// The packs that a thread brings into shared memory with each step, where they lie in the first one. Steps add one
// number to all of them, so that a step has few instructions.
struct Pieces {
  const T* left[kLeftPieces];
  uint32 seen[kLeftPieces];  // a bit for each place of the window at which the row is in the picture
  const T* right[kRightPieces];
  bool is_column[kRightPieces];
};
// A step of the depth on the left: elements from the first one, and the place of the window.
struct Walk {
  int from_first;
  int tap, channel;
};

DEVICE uint32 seen_from(const Work& work, const Row& row) {
  if (!row.is_there) return 0;
  if (!kIsWindow) return 1;
  uint32 line = 0, seen = 0;
#pragma unroll
  for (int x = 0; x < kTapsX; ++x) line |= (uint32)((uint32)(row.x + x * work.dilation_x) < (uint32)work.width) << x;
#pragma unroll
  for (int y = 0; y < kTapsY; ++y) {
    if ((uint32)(row.y + y * work.dilation_y) < (uint32)work.height) seen |= line << (y * kTapsX);
  }
  return seen;
}
DEVICE Pieces pieces_of(const Work& work, int first_row, int first_column) {
  Pieces made;
#pragma unroll
  for (int i = 0; i < kLeftPieces; ++i) {
    const int piece = (int)thread_index() + i * kThreads;
    const Row row = row_of(work, first_row + piece / kChunks);
    made.left[i] = row.first + piece % kChunks * kPack;
    if (kIsWindow) made.left[i] += ((int64)row.y * work.width + row.x) * work.pixel;
    made.seen[i] = seen_from(work, row);
  }
#pragma unroll
  for (int i = 0; i < kRightPieces; ++i) {
    const int piece = (int)thread_index() + i * kThreads, column = first_column + piece / kChunks;
    made.right[i] = work.right + (int64)column * work.right_column + piece % kChunks * kPack;
    made.is_column[i] = column < work.columns;
  }
  return made;
}
DEVICE int tap_offset(const Work& work, int tap) {
  return (tap / kTapsX * work.dilation_y * work.width + tap % kTapsX * work.dilation_x) * work.pixel;
}
DEVICE Walk walk_from(const Work& work, int k) {
  if (!kIsWindow) return {k, 0, 0};
  const int tap = (int)quotient((uint32)k, work.by_channels), channel = k - tap * (int)work.by_channels.divisor;
  return {tap_offset(work, tap) + channel, tap, channel};
}
DEVICE void next_step(const Work& work, Walk& walk) {
  walk.from_first += kDepth;
  if (!kIsWindow) return;
  walk.channel += kDepth;
  if (walk.channel < (int)work.by_channels.divisor) return;
  walk.channel = 0;
  walk.from_first = tap_offset(work, ++walk.tap);
}
// True for a pack that lies within the depth, of the step that begins at `k`.
DEVICE bool is_deep(const Work& work, int k, int piece) { return kWholeSteps || k + piece % kChunks * kPack < work.depth; }
DEVICE void copy_left(const Work& work, const Pieces& pieces, const Walk& walk, int k, T* left) {
#pragma unroll
  for (int i = 0; i < kLeftPieces; ++i) {
    const int piece = (int)thread_index() + i * kThreads;
    if (kRows * kChunks % kThreads != 0 && piece >= kRows * kChunks) break;
    const bool is_there = (pieces.seen[i] >> walk.tap & 1) != 0 && is_deep(work, k, piece);
    copy_or_zero(left + place_in(piece / kChunks, piece % kChunks), pieces.left[i] + walk.from_first, is_there);
  }
}
DEVICE void copy_right(const Work& work, const Pieces& pieces, int k, T* right) {
#pragma unroll
  for (int i = 0; i < kRightPieces; ++i) {
    const int piece = (int)thread_index() + i * kThreads;
    if (kColumns * kChunks % kThreads != 0 && piece >= kColumns * kChunks) break;
    copy_or_zero(right + place_in(piece / kChunks, piece % kChunks), pieces.right[i] + k, pieces.is_column[i] && is_deep(work, k, piece));
  }
}
#endif
