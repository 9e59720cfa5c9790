#include "engine/plan/records.h"

#include <cstring>

#include "base/error.h"

namespace assay::engine {

RecordWriter& RecordWriter::number(uint64_t value) {
  const Bytes bytes = std::as_bytes(std::span(&value, 1));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

RecordWriter& RecordWriter::text(std::string_view value) {
  number(value.size());
  const Bytes bytes = std::as_bytes(std::span(value));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

RecordWriter& RecordWriter::texts(std::span<const std::string> values) {
  number(values.size());
  for (const std::string& value : values) text(value);
  return *this;
}

RecordWriter& RecordWriter::shape(const tensor::Shape& shape) {
  number(shape.size());
  for (const int64_t dim : shape) number(static_cast<uint64_t>(dim));
  return *this;
}

void RecordReader::refuse() const { fail(ErrorCode::parse, "the plan is damaged: its manifest cannot be read"); }

Bytes RecordReader::take(uint64_t size) {
  if (size > rest_.size()) refuse();
  const Bytes taken = rest_.first(size);
  rest_ = rest_.subspan(size);
  return taken;
}

uint64_t RecordReader::number() {
  uint64_t value = 0;
  std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
  return value;
}

bool RecordReader::truth() {
  const uint64_t value = number();
  if (value > 1) refuse();
  return value == 1;
}

std::string RecordReader::text() {
  const Bytes bytes = take(number());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint64_t RecordReader::count(uint64_t least_bytes) {
  const uint64_t items = number();
  if (items > rest_.size() / least_bytes) refuse();
  return items;
}

std::vector<std::string> RecordReader::texts() {
  std::vector<std::string> values(count());
  for (std::string& value : values) value = text();
  return values;
}

tensor::Shape RecordReader::shape() {
  tensor::Shape shape(count());
  for (int64_t& dim : shape) {
    const uint64_t value = number();
    if (value > INT64_MAX) refuse();
    dim = static_cast<int64_t>(value);
  }
  return shape;
}

void RecordReader::finish() const {
  if (!rest_.empty()) refuse();
}

}  // namespace assay::engine
