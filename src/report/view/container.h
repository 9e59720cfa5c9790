#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/json.h"
#include "results/scene.h"

namespace assay::report {

// Columns of numbers and a JSON head, as pages read them: the word `ASV1`, the length of the head, each column at a
// multiple of 8, and the head. Numbers are little-endian.
class Container {
 public:
  // Numbers as they are, or as they pack well: their first bytes, then their second ones, and so on (the column says
  // `planes`); whole numbers of 32 bits as differences from one to the next with the sign in the lowest bit
  // (`differences`).
  enum class Numbers { plain, packable };

  // `kind` as `scene`; more of the head may be written to head() before the first column. `expected` are about the
  // bytes that the columns take.
  explicit Container(std::string_view kind, Numbers numbers = Numbers::plain, size_t expected = 0);
  JsonWriter& head() { return head_; }

  void column(std::string_view name, std::span<const uint8_t> numbers) { add(name, "u8", std::as_bytes(numbers)); }
  void column(std::string_view name, std::span<const uint16_t> numbers) { add(name, "u16", std::as_bytes(numbers)); }
  void column(std::string_view name, std::span<const uint32_t> numbers);
  void column(std::string_view name, std::span<const float> numbers) { add(name, "f32", std::as_bytes(numbers)); }
  void column(std::string_view name, std::span<const double> numbers) { add(name, "f64", std::as_bytes(numbers)); }
  // Two columns, `name.text` and `name.ends`.
  void column(std::string_view name, const results::TextColumn& texts);

  // Call once.
  std::string finish();

 private:
  void add(std::string_view name, std::string_view type, Bytes bytes, bool are_differences = false);
  void append_planes(Bytes bytes, size_t width);

  Numbers numbers_;
  JsonWriter head_;
  std::string columns_;
  bool has_columns_ = false;
};

}  // namespace assay::report
