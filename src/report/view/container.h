#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/function_ref.h"
#include "base/json.h"
#include "results/scene.h"

namespace assay::report {

// Columns of numbers and a JSON head, as pages read them: the word `ASV1`, the length of the head, each column at a
// multiple of 8, and the head. Numbers are little-endian. Columns are not copied: they are read when the container is
// written.
class Container {
 public:
  // Numbers as they are, or as they pack well: their first bytes, then their second ones, and so on (the column says
  // `planes`); whole numbers of 32 bits as differences from one to the next with the sign in the lowest bit
  // (`differences`).
  enum class Numbers { plain, packable };

  // `kind` as `scene`; more of the head may be written to head() before the first column.
  explicit Container(std::string_view kind, Numbers numbers = Numbers::plain);
  JsonWriter& head() { return *head_; }

  void column(std::string_view name, std::span<const uint8_t> numbers) { add(name, "u8", std::as_bytes(numbers)); }
  void column(std::string_view name, std::span<const uint16_t> numbers) { add(name, "u16", std::as_bytes(numbers)); }
  void column(std::string_view name, std::span<const uint32_t> numbers);
  void column(std::string_view name, std::span<const float> numbers) { add(name, "f32", std::as_bytes(numbers)); }
  void column(std::string_view name, std::span<const double> numbers) { add(name, "f64", std::as_bytes(numbers)); }
  // Two columns, `name.text` and `name.ends`.
  void column(std::string_view name, const results::TextColumn& texts);
  // Takes over what a column is made of; to be given to column().
  template <typename T>
  const T& keep(T content) {
    const auto kept = std::make_shared<const T>(std::move(content));
    kept_.push_back(kept);
    return *kept;
  }

  // Call once, after the last column; what follows needs it.
  void finish();
  size_t size() const { return size_ + tail_.size(); }
  void write(FunctionRef<void(std::string_view piece)> take) const;
  std::string text() const;

 private:
  struct Column {
    size_t offset;
    Bytes bytes;
    size_t width;
    bool are_differences;
  };

  void add(std::string_view name, std::string_view type, Bytes bytes, bool are_differences = false);
  static std::string plane(const Column& column, size_t byte);
  static void write_planes(const Column& column, FunctionRef<void(std::string_view piece)> take);

  Numbers numbers_;
  std::unique_ptr<JsonWriter> head_ = std::make_unique<JsonWriter>();
  std::vector<Column> columns_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::string start_;
  std::string tail_;  // the head as text
  size_t size_ = 0;   // of start and columns
};

}  // namespace assay::report
