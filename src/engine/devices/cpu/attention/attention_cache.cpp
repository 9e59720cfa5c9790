#include "engine/devices/cpu/attention/attention_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/devices/cpu/caches.h"
#include "engine/devices/cpu/rows/floats.h"

namespace assay::engine::cpu {
namespace {

// Elements of float32, with strides.
struct Grid {
  int64_t row, column;
};

void copy_run(const float* from, float* to, int64_t count, bool is_large) {
  const auto bytes = static_cast<size_t>(count) * sizeof(float);
  is_large ? copy_past_caches(from, to, bytes) : static_cast<void>(std::memcpy(to, from, bytes));
}

void copy_runs(const float* from, Grid source, float* to, Grid target, int64_t rows, int64_t columns, bool is_large) {
  if (rows == 1 || (source.row == columns && target.row == columns))
    return copy_run(from, to, rows * columns, is_large);
  for (int64_t r = 0; r < rows; ++r) copy_run(from + r * source.row, to + r * target.row, columns, is_large);
}

void copy_grid(const float* from, Grid source, float* to, Grid target, int64_t rows, int64_t columns, bool is_large) {
  if (source.column == 1 && target.column == 1) return copy_runs(from, source, to, target, rows, columns, is_large);
  if (source.row == 1 && target.row == 1) {
    return copy_runs(from, {source.column, 1}, to, {target.column, 1}, columns, rows, is_large);
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      to[r * target.row + c * target.column] = from[r * source.row + c * source.column];
    }
  }
}

// Numbers of bfloat16 as float32, or of float32, rounded to such.
void load_rounded(tensor::DType type, const std::byte* from, float* to, int64_t count) {
  const auto numbers = static_cast<size_t>(count);
  if (type != tensor::DType::float32) return load_floats(type, from, to, numbers);
  row_kernels().round(reinterpret_cast<const float*>(from), to, numbers);
}

}  // namespace

AttentionRows::AttentionRows(Form form, Matrices fresh, AttentionCache cache)
    : form_(std::move(form)), fresh_(std::move(fresh)), cache_(std::move(cache)) {}

bool AttentionRows::are_kept_by(int64_t item) const {
  if (!cache_.kept.exist()) return false;
  for (size_t i = form_.items.size(); i-- > 0; item /= form_.items[i]) {
    if (cache_.kept.items[i] == 0 && item % form_.items[i] != 0) return false;
  }
  return true;
}

bool AttentionRows::has_dense_rows() const {
  return fresh_.column == 1 && (cache_.past_rows == 0 || cache_.past.column == 1);
}

std::array<AttentionRows::Part, 2> AttentionRows::parts(int64_t begin, int64_t end) const {
  const int64_t past = cache_.past_rows;
  return {Part{&cache_.past, cache_.past_type, 0, std::min(begin, past), std::min(end, past)},
          Part{&fresh_, form_.dtype, past, std::max(begin, past), std::max(end, past)}};
}

const std::byte* AttentionRows::place(const Arguments& arguments, const Part& part, int64_t item) const {
  const int64_t row = (part.begin - part.first) * part.matrices->row;
  return first_byte(*part.matrices, arguments) +
         (element_of(*part.matrices, form_.items, item) + row) * float_bytes(part.dtype);
}

std::byte* AttentionRows::kept_place(const Arguments& arguments, int64_t item, int64_t row) const {
  const int64_t element = element_of(cache_.kept, form_.items, item) + row * cache_.kept.row;
  return first_byte(cache_.kept, arguments) + element * float_bytes(cache_.kept_type);
}

std::array<FloatRows, 2> AttentionRows::read(const Arguments& arguments, const Wanted& wanted) const {
  const std::array<Part, 2> both = parts(wanted.begin, wanted.end);
  return {read_part(arguments, both[0], wanted), read_part(arguments, both[1], wanted)};
}

FloatRows AttentionRows::read_part(const Arguments& arguments, const Part& part, const Wanted& wanted) const {
  if (part.begin >= part.end) return {.begin = part.begin, .end = part.begin};
  if (form_.dtype != tensor::DType::float32) return widen_part(arguments, part, wanted);
  if (wanted.keeps && !keeps_columns()) keep_part(arguments, part, wanted.item);
  return {.first = reinterpret_cast<const float*>(place(arguments, part, wanted.item)),
          .row = part.matrices->row,
          .column = part.matrices->column,
          .begin = part.begin,
          .end = part.end};
}

FloatRows AttentionRows::widen_part(const Arguments& arguments, const Part& part, const Wanted& wanted) const {
  const std::byte* const from = place(arguments, part, wanted.item);
  float* const tile = wanted.tile + (part.begin - wanted.begin) * wanted.tile_row;
  std::byte* const kept = wanted.keeps ? kept_place(arguments, wanted.item, part.begin) : nullptr;
  int64_t runs = part.end - part.begin;
  int64_t run = form_.width;
  const bool are_neighbours = part.matrices->row == run && wanted.tile_row == run;
  if (are_neighbours && (!wanted.keeps || cache_.kept.row == run)) run *= std::exchange(runs, 1);
  for (int64_t r = 0; r < runs; ++r) {
    float* const row = tile + r * wanted.tile_row;
    load_rounded(part.dtype, from + r * part.matrices->row * float_bytes(part.dtype), row, run);
    if (kept != nullptr) keep_run(row, kept + r * cache_.kept.row * float_bytes(cache_.kept_type), run);
  }
  return {.first = tile, .row = wanted.tile_row, .column = 1, .begin = part.begin, .end = part.end};
}

void AttentionRows::keep_run(const float* from, std::byte* to, int64_t count) const {
  if (cache_.kept_type == tensor::DType::float32)
    copy_run(from, reinterpret_cast<float*>(to), count, form_.is_large);
  else
    store_floats(cache_.kept_type, from, to, static_cast<size_t>(count));
}

// Keeps a part of float32.
void AttentionRows::keep_part(const Arguments& arguments, const Part& part, int64_t item) const {
  if (part.begin >= part.end) return;
  copy_grid(reinterpret_cast<const float*>(place(arguments, part, item)), {part.matrices->row, part.matrices->column},
            reinterpret_cast<float*>(kept_place(arguments, item, part.begin)), {cache_.kept.row, cache_.kept.column},
            part.end - part.begin, form_.width, form_.is_large);
}

void AttentionRows::keep_columns(const Arguments& arguments, int64_t item) const {
  if (!keeps_columns()) return;
  for (const Part& part : parts(0, form_.rows)) keep_part(arguments, part, item);
}

void AttentionRows::keep_rest(const Arguments& arguments, int64_t item, int64_t begin, float* tile) const {
  if (keeps_columns()) return;
  for (int64_t row = begin; row < form_.rows; row += kStep) {
    read(arguments, {.item = item,
                     .begin = row,
                     .end = std::min(row + kStep, form_.rows),
                     .keeps = true,
                     .tile = tile,
                     .tile_row = form_.width});
  }
}

}  // namespace assay::engine::cpu
