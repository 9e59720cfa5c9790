#include "engine/devices/cpu/integers/code_table.h"

#include <vector>

#include "engine/devices/cpu/kernel_sets.h"
#include "engine/devices/cpu/tape/tape.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::engine::cpu {
namespace {

namespace base {

void map(const std::byte* table, const std::byte* from, std::byte* to, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = table[static_cast<size_t>(from[i])];
}
constexpr TableKernels kernels = {"base", map};

}  // namespace base

#if defined(__x86_64__)
namespace bytes {

// 64 codes at once, whose lower seven bits choose from either half of the table.
[[gnu::target("avx512f,avx512bw,avx512vbmi")]] void map(const std::byte* table, const std::byte* from, std::byte* to,
                                                        size_t count) {
  const __m512i a = _mm512_load_si512(table), b = _mm512_load_si512(table + 64);
  const __m512i c = _mm512_load_si512(table + 128), d = _mm512_load_si512(table + 192);
  for (size_t i = 0; i < count; i += 64) {
    const __mmask64 there = count - i < 64 ? (uint64_t{1} << (count - i)) - 1 : ~uint64_t{0};
    const __m512i codes = _mm512_maskz_loadu_epi8(there, from + i);
    const __m512i low = _mm512_permutex2var_epi8(a, codes, b), high = _mm512_permutex2var_epi8(c, codes, d);
    _mm512_mask_storeu_epi8(to + i, there, _mm512_mask_blend_epi8(_mm512_movepi8_mask(codes), low, high));
  }
}
constexpr TableKernels kernels = {"avx512_vbmi", map};

}  // namespace bytes
#endif

std::vector<const TableKernels*> usable_tables() {
  std::vector<const TableKernels*> usable;
#if defined(__x86_64__)
  if (has_avx512_vbmi()) usable.push_back(&bytes::kernels);
#endif
  usable.push_back(&base::kernels);
  return usable;
}

bool is_code_type(tensor::DType dtype) { return dtype == tensor::DType::int8 || dtype == tensor::DType::uint8; }

// Single numbers that a layer always reads.
const tensor::Tensor* number_of(const Layer& layer, int input) {
  const tensor::Tensor* const constant = input < 0 ? nullptr : layer.constants[static_cast<size_t>(input)];
  return constant != nullptr && constant->count() == 1 ? constant : nullptr;
}

// The steps of a chain behind codes, to which the codes are given, and that read nothing else but single numbers.
std::optional<Chain> steps_behind(const Layer& layer, const Chain& chain, size_t codes) {
  const Chain::Step& made = chain.steps[codes];
  Chain rest{.inputs = chain.inputs,
             .steps = {chain.steps.begin() + static_cast<ptrdiff_t>(codes) + 1, chain.steps.end()},
             .given_type = made.dtype,
             .result = chain.result};
  std::vector<bool> is_known(chain.inputs.size() + 1);
  for (size_t i = 0; i < rest.inputs.size(); ++i) {
    is_known[i + 1] = number_of(layer, rest.inputs[i]) != nullptr;
    if (!is_known[i + 1]) rest.inputs[i] = -1;
  }
  const auto takes = [&](int& reg) {
    const bool are_codes = reg == made.out;
    if (are_codes) reg = 0;
    return are_codes || is_known[static_cast<size_t>(reg)];
  };
  for (Chain::Step& step : rest.steps) {
    const bool has_second = step.op <= ElementOp::select, has_third = step.op == ElementOp::select;
    if (!takes(step.a) || (has_second && !takes(step.b)) || (has_third && !takes(step.c))) return std::nullopt;
    is_known[static_cast<size_t>(step.out)] = true;
  }
  return rest;
}

}  // namespace

std::span<const TableKernels* const> all_table_kernels() {
  static const std::vector<const TableKernels*> usable = usable_tables();
  return usable;
}

std::optional<CodeTable> CodeTable::make(const Layer& layer, const Chain& chain, size_t codes) {
  const tensor::DType made = layer.outputs[0].dtype;
  const std::optional<Chain> steps = steps_behind(layer, chain, codes);
  if (!steps || steps->steps.empty() || !is_code_type(made) || !is_code_type(steps->given_type)) return std::nullopt;
  Layer row = layer;
  row.outputs = {make_desc(made, {kCodes})};
  std::vector<Address> numbers(layer.inputs.size());
  for (const int input : steps->inputs) {
    const tensor::Tensor* const number = number_of(layer, input);
    if (number == nullptr) continue;
    row.inputs[static_cast<size_t>(input)] = make_desc(number->dtype(), {});
    numbers[static_cast<size_t>(input)] = {reinterpret_cast<uint64_t>(number->bytes().data())};
  }
  const std::optional<Tape> tape = Tape::make(row, *steps);
  if (!tape) return std::nullopt;
  CodeTable table;
  std::array<std::byte, kCodes> all;
  for (size_t i = 0; i < kCodes; ++i) all[i] = static_cast<std::byte>(i);
  tape->run(all.data(), table.table_.data(), numbers, 0, kCodes);
  return table;
}

void CodeTable::map(const std::byte* from, std::byte* to, size_t count) const {
  all_table_kernels().front()->map(table_.data(), from, to, count);
}

}  // namespace assay::engine::cpu
