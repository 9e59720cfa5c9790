// Products with panels of codes, after panel_products_body.h and block_numbers_body.h, with
// NibbleTable.

// The rows of one block, times their codes; what reads the codes differs.
template <size_t kRows>
struct BlockSums {
  static constexpr size_t kChains = kChainsOf<kRows>;
  Vector sums[kRows][kVectors][kChains];
};

template <size_t kRows>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_row(const float* left, int64_t left_row, const Vector* right,
                                                        size_t chain, BlockSums<kRows>& block) {
#pragma GCC unroll 16
  for (size_t r = 0; r < kRows; ++r) {
    const Vector x = left[static_cast<int64_t>(r) * left_row] - Vector{};
#pragma GCC unroll 16
    for (size_t v = 0; v < kVectors; ++v) multiply_add(x, right[v], block.sums[r][v][chain]);
  }
}

ASSAY_KERNEL [[gnu::always_inline]] inline void load_words(const std::byte* codes, Bits* out) {
#pragma GCC unroll 16
  for (size_t v = 0; v < kVectors; ++v) {
    out[v] = reinterpret_cast<Bits>(Vector(at(reinterpret_cast<const float*>(codes) + v * kWidth).lanes));
  }
}

// The i-th row of words.
template <bool kAreNibbles, bool kHasZeros>
ASSAY_KERNEL [[gnu::always_inline]] inline void decode(const Bits* words, int i, const NibbleTable& table,
                                                       const float* zeros, Vector* right) {
#pragma GCC unroll 16
  for (size_t v = 0; v < kVectors; ++v) {
    if constexpr (kAreNibbles) {
      table.look_up(words[v] >> (4 * i), right[v]);
    } else {
      right[v] = __builtin_convertvector((words[v] << (24 - 8 * i)) >> 24, Vector);
    }
    if constexpr (kHasZeros) right[v] -= at(zeros + v * kWidth).lanes;
  }
}

template <bool kAreNibbles>
constexpr size_t kEach = kAreNibbles ? CodePanel::kNibbles : CodePanel::kBytes;

template <bool kAreNibbles, bool kHasZeros, size_t kRows>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_codes(const PanelRows& rows, const float* left, size_t count,
                                                          const std::byte* codes, const NibbleTable& table,
                                                          const float* zeros, BlockSums<kRows>& block) {
  constexpr size_t kChains = BlockSums<kRows>::kChains;
  Vector right[kVectors];
  Bits words[kVectors];
  size_t k = 0;
  for (; k + kEach<kAreNibbles> <= count; k += kEach<kAreNibbles>, codes += CodePanel::kWordRow) {
    load_words(codes, words);
#pragma GCC unroll 8
    for (size_t i = 0; i < kEach<kAreNibbles>; ++i) {
      decode<kAreNibbles, kHasZeros>(words, static_cast<int>(i), table, zeros, right);
      add_row<kRows>(left + k + i, rows.left_row, right, i % kChains, block);
    }
  }
  if (k == count) return;
  load_words(codes, words);
  for (size_t i = 0; k + i < count; ++i) {
    decode<kAreNibbles, kHasZeros>(words, static_cast<int>(i), table, zeros, right);
    add_row<kRows>(left + k + i, rows.left_row, right, 0, block);
  }
}

template <bool kAreNibbles, bool kHasZeros, size_t kRows>
ASSAY_KERNEL void multiply_codes_tile(const PanelRows& rows, const CodePanel& panel) {
  [[maybe_unused]] const NibbleTable table(kHasZeros ? 0 : panel.zero);
  const std::byte* from = panel.blocks;
  for (size_t k = 0; k < rows.depth; k += panel.block) {
    const size_t count = std::min(panel.block, rows.depth - k);
    const std::byte* const numbers = from;
    const float* const zeros = zeros_of(panel.form, numbers);
    from += panel.form.number_bytes();
    BlockSums<kRows> block = {};
    add_codes<kAreNibbles, kHasZeros>(rows, rows.left + k, count, from, table, zeros, block);
    from += panel.code_bytes(count);
#pragma GCC unroll 16
    for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
      for (size_t v = 0; v < kVectors; ++v) {
        Vector sum = block.sums[r][v][0];
        if constexpr (BlockSums<kRows>::kChains == 2) sum += block.sums[r][v][1];
        Place& out = at(rows.out + static_cast<int64_t>(r) * rows.out_row + v * kWidth);
        Vector scale;
        load_scales(panel.form, numbers, v, scale);
        Vector total = out.lanes;
        multiply_add(sum, scale, total);
        out.lanes = total;
      }
    }
  }
}

template <bool kAreNibbles, bool kHasZeros>
ASSAY_KERNEL void multiply_codes_of(const PanelRows& rows, const CodePanel& panel) {
  for_tiles(rows, [&](auto count, const PanelRows& tile) {
    multiply_codes_tile<kAreNibbles, kHasZeros, decltype(count)::value>(tile, panel);
  });
}

ASSAY_KERNEL void multiply_codes(const PanelRows& rows, const CodePanel& panel) {
  if (panel.form.are_nibbles)
    panel.form.has_zeros ? multiply_codes_of<true, true>(rows, panel) : multiply_codes_of<true, false>(rows, panel);
  else
    panel.form.has_zeros ? multiply_codes_of<false, true>(rows, panel) : multiply_codes_of<false, false>(rows, panel);
}

template <bool kAreNibbles, bool kHasZeros>
ASSAY_KERNEL void expand_block(const CodePanel& panel, const std::byte* from, size_t begin, size_t end, float* out) {
  [[maybe_unused]] const NibbleTable table(kHasZeros ? 0 : panel.zero);
  const float* const zeros = zeros_of(panel.form, from);
  Vector scales[kVectors];
  for (size_t v = 0; v < kVectors; ++v) load_scales(panel.form, from, v, scales[v]);
  from += panel.form.number_bytes();
  for (size_t k = begin; k < end; ++k, out += kPanel) {
    Vector right[kVectors];
    Bits words[kVectors];
    load_words(from + k / kEach<kAreNibbles> * CodePanel::kWordRow, words);
    decode<kAreNibbles, kHasZeros>(words, static_cast<int>(k % kEach<kAreNibbles>), table, zeros, right);
    for (size_t v = 0; v < kVectors; ++v) at(out + v * kWidth).lanes = right[v] * scales[v];
  }
}

ASSAY_KERNEL void expand(const CodePanel& panel, size_t begin, size_t end, float* out) {
  const size_t bytes = panel.form.number_bytes() + panel.code_bytes(panel.block);
  while (begin < end) {
    const size_t first = begin / panel.block * panel.block;
    const size_t last = std::min(end, first + panel.block);
    const std::byte* const from = panel.blocks + begin / panel.block * bytes;
    if (panel.form.are_nibbles && panel.form.has_zeros)
      expand_block<true, true>(panel, from, begin - first, last - first, out);
    if (panel.form.are_nibbles && !panel.form.has_zeros)
      expand_block<true, false>(panel, from, begin - first, last - first, out);
    if (!panel.form.are_nibbles && panel.form.has_zeros)
      expand_block<false, true>(panel, from, begin - first, last - first, out);
    if (!panel.form.are_nibbles && !panel.form.has_zeros)
      expand_block<false, false>(panel, from, begin - first, last - first, out);
    out += (last - begin) * kPanel;
    begin = last;
  }
}
