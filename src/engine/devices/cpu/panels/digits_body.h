// Rows in digits and their products with codes, after vector_math_body.h, block_numbers_body.h and the words of
// digits; included by digits.cpp once for each instruction set.

constexpr size_t kVectors = kPanel / kWidth;
constexpr size_t kRunVectors = DigitRun::kRows / kWidth;
constexpr int32_t kInfinity = 0x7F800000;
constexpr int kLeastExponent = -96;  // below it, the unit would be denormal
constexpr int32_t kFar = 12 << 23;   // from a number's bits to those of a 2^12th of it

// From zero points to those of codes as they are multiplied.
constexpr int32_t shift_of(bool are_nibbles) { return are_nibbles ? 0 : kByteShift; }

using RunNumbers = Vector[kRunVectors];

ASSAY_KERNEL inline void load(const float* row, size_t count, RunNumbers& out) {
  alignas(kBytes) float padded[DigitRun::kRows];
  if (count < DigitRun::kRows) {
    std::fill(std::copy_n(row, count, padded), padded + DigitRun::kRows, 0.0F);
    row = padded;
  }
#pragma GCC unroll 4
  for (size_t v = 0; v < kRunVectors; ++v) out[v] = at(row + v * kWidth).lanes;
}

template <typename Operation>
ASSAY_KERNEL inline int32_t folded(const Bits& lanes, Operation operation) {
  using Quarter [[gnu::vector_size(16), gnu::may_alias]] = int32_t;
  alignas(kBytes) int32_t values[kWidth];
  *reinterpret_cast<Bits*>(values) = lanes;
  Quarter all = *reinterpret_cast<const Quarter*>(values);
#pragma GCC unroll 4
  for (size_t i = 4; i < kWidth; i += 4) all = operation(all, *reinterpret_cast<const Quarter*>(values + i));
  all = operation(all, __builtin_shufflevector(all, all, 2, 3, 0, 1));
  return operation(all, __builtin_shufflevector(all, all, 1, 0, 3, 2))[0];
}

// True if half of the numbers that are not zero are within 2^12 of the greatest: the others are lost first.
ASSAY_KERNEL inline bool are_near(const RunNumbers& given, int32_t greatest) {
  Bits points = {};  // two for a number that is near, one for a zero
  for (const Vector& numbers : given) {
    const Bits magnitude = reinterpret_cast<Bits>(numbers) & 0x7FFFFFFF;
    points -= (magnitude > greatest - kFar) * 2 + (magnitude == 0);
  }
  return folded(points, [](const auto& a, const auto& b) { return a + b; }) >= static_cast<int32_t>(DigitRun::kRows);
}

ASSAY_KERNEL inline bool split(const float* row, size_t count, bool are_nibbles, int32_t zero, DigitRun& run) {
  RunNumbers given;
  load(row, count, given);
  Bits magnitudes = {};
  for (const Vector& numbers : given) {
    const Bits magnitude = reinterpret_cast<Bits>(numbers) & 0x7FFFFFFF;
    magnitudes = magnitude > magnitudes ? magnitude : magnitudes;
  }
  const int32_t greatest = folded(magnitudes, [](const auto& a, const auto& b) { return a > b ? a : b; });
  if (greatest >= kInfinity || !are_near(given, greatest)) return false;
  const int exponent = std::max((greatest >> 23) - 126, kLeastExponent);  // numbers are below 2^exponent
  run.unit = std::bit_cast<float>((exponent - 30 + 127) << 23);
  run.count = static_cast<uint32_t>(count);
  Bits low = {}, high = {};
  for (size_t v = 0; v < kRunVectors; ++v) {
    Bits raised;
    to_nearest(given[v] * std::bit_cast<float>((30 - exponent + 127) << 23), raised);
    raised += kHalves;
    low += (raised & 0xFFFF) - (kHalves & 0xFFFF);
    high += (raised >> 16) - (kHalves >> 16);
    store_words(raised ^ kHalves, are_nibbles, run.words + v * kWidth);
  }
  const auto sum = [](const auto& a, const auto& b) { return a + b; };
  run.low = -zero * folded(low, sum);
  run.high = -zero * folded(high, sum);
  return true;
}

ASSAY_KERNEL bool split_row(const float* row, size_t depth, const CodePanel& panel, DigitRun* runs) {
  const int32_t zero = panel.form.has_zeros ? 1 : static_cast<int32_t>(panel.zero) + shift_of(panel.form.are_nibbles);
  for (size_t k = 0; k < depth;) {
    for (const size_t end = std::min(depth, k + panel.block); k < end; k += runs++->count) {
      if (!split(row + k, std::min(DigitRun::kRows, end - k), panel.form.are_nibbles, zero, *runs)) return false;
    }
  }
  return true;
}

// Rows at the same run.
struct RunRows {
  const DigitRun* first;
  size_t row_runs;  // from a row to the next
  const DigitRun& row(size_t r) const { return first[r * row_runs]; }
};

template <size_t kRows>
struct DigitSums {
  Bits sums[kRows][kVectorsAtOnce<kRows>][kDigits];
};

template <bool kAreNibbles>
constexpr size_t kNumbersOfWord = kAreNibbles ? CodePanel::kNibbles : CodePanel::kBytes;

// A word of codes of each column times the digits of each row, from the k-th number of its run on.
template <bool kAreNibbles, size_t kRows>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_words(const std::byte* from, const RunRows& rows, size_t k,
                                                          DigitSums<kRows>& to) {
  constexpr size_t kAhead = 3072, kLine = 64;  // bytes
  constexpr size_t kAtOnce = kVectorsAtOnce<kRows>;
  Bits bytes[kAtOnce];
#pragma GCC unroll 4
  for (size_t v = 0; v < kAtOnce; ++v) {
    const std::byte* const place = from + v * kBytes;
    if (v * kBytes % kLine == 0) __builtin_prefetch(place + kAhead);
    bytes[v] = reinterpret_cast<Bits>(Vector(at(reinterpret_cast<const float*>(place)).lanes));
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < kNumbersOfWord<kAreNibbles> / kNumbersTogether; ++i) {
    Bits codes[kAtOnce];
#pragma GCC unroll 4
    for (size_t v = 0; v < kAtOnce; ++v) codes_of<kAreNibbles>(bytes[v], i, codes[v]);
#pragma GCC unroll 4
    for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (size_t digit = 0; digit < kDigits; ++digit) {
        const Bits digits = Bits{} + rows.row(r).words[k + word_of<kAreNibbles>(i, digit)];
#pragma GCC unroll 4
        for (size_t v = 0; v < kAtOnce; ++v) add_products(codes[v], digits, to.sums[r][v][digit]);
      }
    }
  }
}

// Sums that zero points begin with.
template <bool kAreNibbles, bool kHasZeros>
ASSAY_KERNEL [[gnu::always_inline]] inline void start(const DigitRun& run, const float* zeros, Bits (&sums)[kDigits]) {
#pragma GCC unroll 4
  for (Bits& sum : sums) sum = Bits{};
  sums[0] += run.low;
  sums[kDigits / 2] += run.high;
  if constexpr (kHasZeros) {
    const Bits zero = __builtin_convertvector(Vector(at(zeros).lanes), Bits) + shift_of(kAreNibbles);
    sums[0] *= zero;
    sums[kDigits / 2] *= zero;
  }
}

// The sums of a run as numbers.
ASSAY_KERNEL [[gnu::always_inline]] inline void add_number(const Bits (&sums)[kDigits], float unit, const Vector& scale,
                                                           Vector& total) {
  constexpr float kUpper = 1 << 16;
  Bits low, high;
  join(sums, low, high);
  const Vector number = __builtin_convertvector(high, Vector) * kUpper + __builtin_convertvector(low, Vector);
  total += number * unit * scale;
}

// The columns of some vectors, from the first of them on.
template <PanelForm kForm, size_t kRows>
ASSAY_KERNEL [[gnu::always_inline]] inline void add_run(const std::byte* numbers, const std::byte* from,
                                                        const RunRows& rows, size_t first,
                                                        Vector (&totals)[kRows][kVectors]) {
  constexpr size_t kAtOnce = kVectorsAtOnce<kRows>;
  DigitSums<kRows> run;
#pragma GCC unroll 8
  for (size_t i = 0; i < kRows * kAtOnce; ++i) {
    const auto* const zeros =
        reinterpret_cast<const float*>(numbers + kForm.scale_bytes()) + (first + i % kAtOnce) * kWidth;
    start<kForm.are_nibbles, kForm.has_zeros>(rows.row(i / kAtOnce), zeros, run.sums[i / kAtOnce][i % kAtOnce]);
  }
  from += first * kBytes;
  for (size_t k = 0; k < rows.first->count; k += kNumbersOfWord<kForm.are_nibbles>, from += CodePanel::kWordRow) {
    add_words<kForm.are_nibbles, kRows>(from, rows, k, run);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kRows * kAtOnce; ++i) {
    const size_t r = i / kAtOnce, v = i % kAtOnce;
    Vector scale;
    load_scales<kForm.are_scales_halves>(numbers, first + v, scale);
    add_number(run.sums[r][v], rows.row(r).unit, scale, totals[r][first + v]);
  }
}

template <PanelForm kForm, size_t kRows>
ASSAY_KERNEL void multiply_rows(RunRows runs, const PanelRows& rows, const CodePanel& panel) {
  Vector totals[kRows][kVectors];
#pragma GCC unroll 8
  for (size_t i = 0; i < kRows * kVectors; ++i) {
    const auto row = static_cast<int64_t>(i / kVectors);
    totals[i / kVectors][i % kVectors] = at(rows.out + row * rows.out_row + i % kVectors * kWidth).lanes;
  }
  const std::byte* from = panel.blocks;
  for (size_t k = 0; k < rows.depth;) {
    const std::byte* const numbers = from;
    from += kForm.number_bytes();
    for (const size_t end = std::min(rows.depth, k + panel.block); k < end; k += runs.first++->count) {
#pragma GCC unroll 4
      for (size_t first = 0; first < kVectors; first += kVectorsAtOnce<kRows>) {
        add_run<kForm, kRows>(numbers, from, runs, first, totals);
      }
      constexpr size_t kNumbers = kNumbersOfWord<kForm.are_nibbles>;
      from += (runs.first->count + kNumbers - 1) / kNumbers * CodePanel::kWordRow;
    }
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kRows * kVectors; ++i) {
    const auto row = static_cast<int64_t>(i / kVectors);
    at(rows.out + row * rows.out_row + i % kVectors * kWidth).lanes = totals[i / kVectors][i % kVectors];
  }
}

template <PanelForm kForm>
void multiply_all(RunRows runs, PanelRows rows, const CodePanel& panel) {
  for (; rows.rows >= 2; rows.rows -= 2, rows.out += 2 * rows.out_row, runs.first += 2 * runs.row_runs) {
    multiply_rows<kForm, 2>(runs, rows, panel);
  }
  if (rows.rows == 1) multiply_rows<kForm, 1>(runs, rows, panel);
}

template <size_t... kNumbers>
constexpr auto multiply_by_form(std::index_sequence<kNumbers...>) {
  return std::array{&multiply_all<PanelForm{(kNumbers & 1) != 0, (kNumbers & 2) != 0, (kNumbers & 4) != 0}>...};
}

void multiply(const DigitRun* runs, const PanelRows& rows, const CodePanel& panel) {
  static constexpr std::array kByForm = multiply_by_form(std::make_index_sequence<8>());
  const RunRows all = {runs, digit_runs(rows.depth, panel.block)};
  const PanelForm& form = panel.form;
  kByForm[form.are_nibbles + 2U * form.has_zeros + 4U * form.are_scales_halves](all, rows, panel);
}
