#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay {

// ONNX's element types that have a C++ type of their own are read with elements<T>(); of the others there are bytes.
template <typename T>
struct ElementName;  // `float32` for float, ...
template <>
struct ElementName<float> {
  static constexpr const char* value = "float32";
};
template <>
struct ElementName<double> {
  static constexpr const char* value = "float64";
};
template <>
struct ElementName<int8_t> {
  static constexpr const char* value = "int8";
};
template <>
struct ElementName<int16_t> {
  static constexpr const char* value = "int16";
};
template <>
struct ElementName<int32_t> {
  static constexpr const char* value = "int32";
};
template <>
struct ElementName<int64_t> {
  static constexpr const char* value = "int64";
};
template <>
struct ElementName<uint8_t> {
  static constexpr const char* value = "uint8";
};
template <>
struct ElementName<uint16_t> {
  static constexpr const char* value = "uint16";
};
template <>
struct ElementName<uint32_t> {
  static constexpr const char* value = "uint32";
};
template <>
struct ElementName<uint64_t> {
  static constexpr const char* value = "uint64";
};
template <>
struct ElementName<bool> {
  static constexpr const char* value = "bool";
};

// A dense row-major array. Cheap to copy; its elements never change.
class Tensor {
 public:
  using Shape = std::vector<int64_t>;

  Tensor();
  // Copies the elements. Error (shape) if the shape has room for another number of them.
  template <typename T>
  Tensor(Shape shape, std::span<const T> elements)
      : Tensor(ElementName<T>::value, std::move(shape), std::as_bytes(elements)) {}
  template <typename T>
  Tensor(Shape shape, const std::vector<T>& elements) : Tensor(std::move(shape), std::span<const T>(elements)) {}
  // `type` by ONNX's name: `float32`, `bfloat16`, `int4` (packed, the first element in the lowest bits), ...
  Tensor(const std::string& type, Shape shape, std::span<const std::byte> bytes);
  static Tensor of_strings(Shape shape, std::vector<std::string> elements);

  const char* type() const;
  const Shape& shape() const;
  uint64_t count() const;
  std::span<const std::byte> bytes() const;
  // Error (usage) if the elements are of another type.
  template <typename T>
  std::span<const T> elements() const {
    return {static_cast<const T*>(data_of(ElementName<T>::value)), count()};
  }
  std::span<const std::string> strings() const;

  struct Content;
  explicit Tensor(std::shared_ptr<const Content> content);
  const Content& content() const { return *content_; }

 private:
  const void* data_of(const char* type) const;

  std::shared_ptr<const Content> content_;
};

// The inputs or outputs of one run, in order; no name twice.
using Values = std::vector<std::pair<std::string, Tensor>>;

}  // namespace assay
