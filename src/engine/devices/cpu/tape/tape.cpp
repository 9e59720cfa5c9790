#include "engine/devices/cpu/tape/tape.h"

#include <algorithm>
#include <array>

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/devices/cpu/tape/coarse_kernels.h"
#include "engine/layers/element_walk.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kWholeVectors = 16;

}  // namespace

// Elements of a register: `stride` apart, rows likewise.
struct Tape::Source {
  tensor::DType dtype;
  int64_t bytes;  // of an element
  const std::byte* first;
  int64_t stride, row;
};

// A call for rows that lie evenly, and its registers.
struct Tape::Call {
  Call(const Given& start, void* to, const TapeRows& wanted)
      : given(start), out(static_cast<std::byte*>(to)), rows(wanted) {}

  const Given& given;
  std::byte* out;
  const TapeRows& rows;
  std::array<Source, kMostRegisters> sources;  // by operand; no bytes: a result of a step
  std::array<TapeView, kMostRegisters> views;
  alignas(64) float tiles[kMostRegisters][kTapeTile];
};

// A part that is computed at a time: rows and columns of a call.
struct Tape::Part {
  int64_t row, column, rows, columns;
  int64_t pitch;  // of the rows of a register
};

void Tape::run(const void* given, void* out, std::span<const Address> inputs, int64_t begin, int64_t end) const {
  const int64_t inner = extents_.back();
  const auto* from = static_cast<const std::byte*>(given);
  auto* to = static_cast<std::byte*>(out);
  for (int64_t at = begin; at < end;) {
    const int64_t columns = std::min(inner - at % inner, end - at);
    const int64_t rows = columns == inner ? (end - at) / inner : 1;
    run_rows({from, inner}, to, inputs, {at, inner, rows, columns});
    at += rows * columns;
    if (from != nullptr) from += rows * columns * float_bytes(given_type_);
    to += rows * columns * float_bytes(out_type_);
  }
}

// The number of rows from this element on that lie evenly in all operands: at most those of the two innermost dims.
int64_t Tape::even_rows(int64_t first, const TapeRows& rows) const {
  const size_t dims = extents_.size();
  const int64_t inner = extents_.back();
  if (dims == 1) return rows.rows;
  if (rows.pitch % inner != 0) return 1;
  if (dims == 2) return rows.rows;
  const int64_t left = extents_[dims - 2] - first / inner % extents_[dims - 2];
  return std::max<int64_t>(1, parts_of(left, std::max<int64_t>(1, rows.pitch / inner)));
}

void Tape::run_rows(const Given& given, void* out, std::span<const Address> inputs, const TapeRows& rows) const {
  const int64_t inner = extents_.back();
  for (int64_t row = 0; row < rows.rows;) {
    const int64_t first = rows.first + row * rows.pitch;
    const bool is_within = extents_.size() == 1 || first % inner + rows.columns <= inner;
    const int64_t count = is_within ? std::min(even_rows(first, rows), rows.rows - row) : 1;
    const auto* from = static_cast<const std::byte*>(given.first);
    if (from != nullptr) from += row * given.pitch * float_bytes(given_type_);
    auto* const to = static_cast<std::byte*>(out) + row * rows.pitch * float_bytes(out_type_);
    if (is_within)
      run_even({from, given.pitch}, to, inputs, {first, rows.pitch, count, rows.columns});
    else
      run(from, to, inputs, first, first + rows.columns);
    row += count;
  }
}

// The view of a call's only step whose numbers lie side by side in memory: what is given, or an operand; null: they lie
// elsewhere.
TapeView Tape::find_alone(const Given& given, std::span<const Address> inputs, const TapeRows& rows) const {
  if (steps_[0].a == 0) {
    const bool are_floats = given.first != nullptr && given_type_ == tensor::DType::float32;
    return are_floats ? TapeView{static_cast<const float*>(given.first), given.pitch} : TapeView();
  }
  const Operand& operand = operands_[static_cast<size_t>(steps_[0].a) - 1];
  if (operand.input < 0 || operand.dtype != tensor::DType::float32 || operand.strides.back() != 1) return {};
  const auto* const first = host<const float>(inputs[static_cast<size_t>(operand.input)]);
  return {first + walked_offset(extents_, operand.strides, rows.first), row_stride(operand, rows)};
}

// The distance of an operand's elements from one row to the next.
int64_t Tape::row_stride(const Operand& operand, const TapeRows& rows) const {
  const size_t dims = operand.strides.size();
  if (rows.rows == 1) return 0;
  if (dims == 1) return operand.strides[0] * rows.pitch;
  return operand.strides[dims - 2] * (rows.pitch / extents_.back());
}

// One step that needs no register; false: there are more.
bool Tape::run_alone(const Given& given, void* out, std::span<const Address> inputs, const TapeRows& rows) const {
  if (steps_.size() != 1 || steps_[0].op <= ElementOp::select) return false;
  const Step& step = steps_[0];
  const TapeView from = find_alone(given, inputs, rows);
  if (from.first == nullptr) return false;
  const auto count = static_cast<size_t>(rows.rows), columns = static_cast<size_t>(rows.columns);
  if (out_type_ == tensor::DType::bfloat16 && step.is_coarse && rows.columns % kWholeVectors == 0) {
    coarse_kernels().to_bfloat16(step.op, from, {static_cast<uint16_t*>(out), rows.pitch, count, columns});
    return true;
  }
  const bool has_loop =
      out_type_ == tensor::DType::float32 && !step.is_coarse && step.op != ElementOp::round_to_float16;
  return has_loop && run_floats(step, from, {static_cast<float*>(out), rows.pitch, count, columns});
}

// Rows of any length where they are not in place: the last vector of a row computes some once more. False: they are.
bool Tape::run_floats(const Step& step, const TapeView& from, const TapeTarget& out) {
  const size_t rest = out.columns % kWholeVectors;
  if (rest == 0) {
    tape_kernels().unary(step.op, from, out, step.p, step.q);
    return true;
  }
  const auto span = [&](const float* first, int64_t row) {
    const int64_t last = (static_cast<int64_t>(out.rows) - 1) * row;
    return std::pair(first + std::min<int64_t>(last, 0),
                     first + std::max<int64_t>(last, 0) + static_cast<int64_t>(out.columns));
  };
  const auto [from_begin, from_end] = span(from.first, from.row);
  const auto [begin, end] = span(out.first, out.row);
  const bool is_apart = from_end <= begin || end <= from_begin;
  if (!is_apart || out.columns < kWholeVectors) return false;
  constexpr size_t kRows = 32;  // that the first cache holds
  const auto last = static_cast<int64_t>(out.columns) - kWholeVectors;
  for (size_t row = 0; row < out.rows; row += kRows) {
    const TapeView part{from.first + static_cast<int64_t>(row) * from.row, from.row};
    TapeTarget target{out.first + static_cast<int64_t>(row) * out.row, out.row, std::min(kRows, out.rows - row),
                      out.columns - rest};
    tape_kernels().unary(step.op, part, target, step.p, step.q);
    target.first += last;
    target.columns = kWholeVectors;
    tape_kernels().unary(step.op, {part.first + last, part.row}, target, step.p, step.q);
  }
  return true;
}

void Tape::run_even(const Given& given, void* out, std::span<const Address> inputs, const TapeRows& rows) const {
  if (run_alone(given, out, inputs, rows)) return;
  constexpr auto kMost = static_cast<int64_t>(kTapeTile);
  const int64_t pitch = rounded_up(std::min(rows.columns, kMost), kWholeVectors);
  const int64_t group = kMost / pitch;
  Call call(given, out, rows);
  find_sources(inputs, call);
  for (int64_t row = 0; row < rows.rows; row += group) {
    for (int64_t column = 0; column < rows.columns; column += kMost) {
      run_part(call, {.row = row,
                      .column = column,
                      .rows = std::min(group, rows.rows - row),
                      .columns = std::min(kMost, rows.columns - column),
                      .pitch = pitch});
    }
  }
}

void Tape::find_sources(std::span<const Address> inputs, Call& call) const {
  for (size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = operands_[i];
    call.sources[i].bytes = 0;
    if (operand.input < 0) continue;
    const int64_t bytes = float_bytes(operand.dtype);
    const auto* const first = host<const std::byte>(inputs[static_cast<size_t>(operand.input)]);
    const int64_t offset = walked_offset(extents_, operand.strides, call.rows.first);
    call.sources[i] = {operand.dtype, bytes, first + offset * bytes, operand.strides.back(),
                       row_stride(operand, call.rows)};
  }
}

namespace {

// The first element, `count` times.
void repeat(float* tile, size_t count) {
  for (size_t done = 1; done < count; done *= 2) std::copy_n(tile, std::min(done, count - done), tile + done);
}

// Elements `stride` apart, side by side.
void gather(tensor::DType dtype, const std::byte* from, int64_t stride, float* tile, size_t count) {
  const int64_t bytes = stride * float_bytes(dtype);
  for (size_t i = 0; i < count && dtype == tensor::DType::float32; ++i)
    tile[i] = reinterpret_cast<const float*>(from)[static_cast<int64_t>(i) * stride];
  for (size_t i = 0; i < count && dtype != tensor::DType::float32; ++i) {
    const std::byte* const element = from + static_cast<int64_t>(i) * bytes;
    const float* const number = read_floats(dtype, element, tile + i, 1);
    tile[i] = *number;
  }
}

void load_row(tensor::DType dtype, const std::byte* from, int64_t stride, float* tile, size_t count) {
  if (stride == 1) {
    load_floats(dtype, from, tile, count);
  } else if (stride == 0) {
    gather(dtype, from, 0, tile, 1);
    repeat(tile, count);
  } else {
    gather(dtype, from, stride, tile, count);
  }
}

void round_to_half(const TapeView& x, const TapeTarget& out) {
  std::array<uint16_t, kTapeTile> halves;
  for (size_t r = 0; r < out.rows; ++r) {
    const auto row = static_cast<int64_t>(r);
    row_kernels().narrow_half(x.first + row * x.row, halves.data(), out.columns);
    row_kernels().widen_half(halves.data(), out.first + row * out.row, out.columns);
  }
}

}  // namespace

// A register of elements: their memory, or a tile. Kernels read whole vectors.
TapeView Tape::load(const Source& source, const Part& part, float* tile) {
  const bool is_whole = part.columns % kWholeVectors == 0;
  if (source.dtype == tensor::DType::float32 && source.stride == 1 && is_whole)
    return {reinterpret_cast<const float*>(source.first), source.row};
  const int64_t rows = source.row == 0 ? 1 : part.rows;
  if (source.dtype == tensor::DType::float32 && source.stride == 0) {
    tape_kernels().spread({reinterpret_cast<const float*>(source.first), source.row},
                          {tile, part.pitch, static_cast<size_t>(rows), static_cast<size_t>(part.columns)});
    return {tile, source.row == 0 ? 0 : part.pitch};
  }
  for (int64_t r = 0; r < rows; ++r) {
    load_row(source.dtype, source.first + r * source.row * source.bytes, source.stride, tile + r * part.pitch,
             static_cast<size_t>(part.columns));
  }
  return {tile, source.row == 0 ? 0 : part.pitch};
}

void Tape::load_operand(Call& call, const Part& part, size_t index) {
  Source source = call.sources[index];
  const bool is_loaded = source.stride == 0 && (part.column > 0 || (part.row > 0 && source.row == 0));
  if (is_loaded) return;
  source.first += (part.row * source.row + part.column * source.stride) * source.bytes;
  call.views[index + 1] = load(source, part, call.tiles[index + 1]);
}

void Tape::run_part(Call& call, const Part& part) const {
  if (call.given.first != nullptr) {
    const int64_t offset = part.row * call.given.pitch + part.column;
    const int64_t bytes = float_bytes(given_type_);
    const auto* const first = static_cast<const std::byte*>(call.given.first) + offset * bytes;
    call.views[0] = load({given_type_, bytes, first, 1, call.given.pitch}, part, call.tiles[0]);
  }
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (call.sources[i].bytes == 0)
      call.views[i + 1] = {call.tiles[i + 1], part.pitch};
    else
      load_operand(call, part, i);
  }
  std::byte* const out = call.out + (part.row * call.rows.pitch + part.column) * float_bytes(out_type_);
  const bool are_whole = part.columns % kWholeVectors == 0;
  const bool is_in_place = are_whole && out_type_ == tensor::DType::float32;
  const bool is_narrowed =
      are_whole && out_type_ == tensor::DType::bfloat16 && steps_.back().out == result_ && steps_.back().is_coarse;
  const auto rows = static_cast<size_t>(part.rows), columns = static_cast<size_t>(part.columns);
  for (const Step& step : std::span(steps_).first(steps_.size() - (is_narrowed ? 1 : 0))) {
    TapeTarget target{call.tiles[step.out], part.pitch, rows, columns};
    if (is_in_place && step.out == result_) {
      target.first = reinterpret_cast<float*>(out);
      target.row = call.rows.pitch;
    }
    run_step(call, step, target);
  }
  if (is_narrowed) {
    const TapeView last = call.views[static_cast<size_t>(steps_.back().a)];
    return coarse_kernels().to_bfloat16(steps_.back().op, last,
                                        {reinterpret_cast<uint16_t*>(out), call.rows.pitch, rows, columns});
  }
  for (int64_t r = 0; r < (is_in_place ? 0 : part.rows); ++r) {
    store_floats(out_type_, call.tiles[result_] + r * part.pitch, out + r * call.rows.pitch * float_bytes(out_type_),
                 columns);
  }
}

void Tape::run_step(const Call& call, const Step& step, const TapeTarget& out) {
  const TapeKernels& kernels = tape_kernels();
  const TapeView a = call.views[static_cast<size_t>(step.a)];
  const TapeView b = call.views[static_cast<size_t>(step.b)];
  if (step.op <= kLastBinary)
    kernels.binary(step.op, a, b, out);
  else if (step.op == ElementOp::select)
    kernels.select(a, b, call.views[static_cast<size_t>(step.c)], out);
  else if (step.op == ElementOp::round_to_float16)
    round_to_half(a, out);
  else if (step.is_coarse)
    coarse_kernels().to_floats(step.op, a, out);
  else
    kernels.unary(step.op, a, out, step.p, step.q);
}

}  // namespace assay::engine::cpu
