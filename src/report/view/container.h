#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/json.h"
#include "results/scene.h"

namespace assay::report {

// Columns of numbers behind a JSON head, as pages read them: the word `ASV1`, the length of the head, the head, and
// each column at a multiple of 8, counted from the end of the head. Numbers are little-endian.
class Container {
 public:
  // Whole numbers as they are, or, in files that are packed, their differences from one to the next: the column says
  // `differences`.
  enum class Numbers { plain, differences };

  // `kind` as `scene`; more of the head may be written to head() before the first column.
  explicit Container(std::string_view kind, Numbers numbers = Numbers::plain);
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

  Numbers numbers_;
  JsonWriter head_;
  std::string columns_;
  bool has_columns_ = false;
};

}  // namespace assay::report
