#pragma once

#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"

namespace assay::testing_support {

// A protobuf message put together field by field, well formed or not. Independent of the code that is tested.
class Wire {
 public:
  Wire& varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  Wire& tag(uint32_t field, unsigned wire_type) { return varint(uint64_t{field} << 3 | wire_type); }
  Wire& integer(uint32_t field, int64_t value) { return tag(field, 0).varint(static_cast<uint64_t>(value)); }
  Wire& text(uint32_t field, std::string_view content) { return tag(field, 2).varint(content.size()).raw(content); }
  Wire& message(uint32_t field, const Wire& content) { return text(field, content.bytes_); }
  Wire& float32(uint32_t field, float value) { return tag(field, 5).fixed(std::bit_cast<uint32_t>(value)); }
  Wire& float64(uint32_t field, double value) { return tag(field, 1).fixed(std::bit_cast<uint64_t>(value)); }
  Wire& raw(std::string_view content) {
    bytes_ += content;
    return *this;
  }
  // Bytes of a number, low byte first.
  template <typename T>
  Wire& fixed(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) bytes_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  // A field that no version of ONNX has.
  Wire& unknown(std::string_view content = "kept") { return text(1000, content); }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// ONNX's messages, with the fields that tests need.
inline Wire opset(int64_t version, std::string_view domain = "") { return Wire().text(1, domain).integer(2, version); }

inline Wire attribute(std::string_view name, int64_t value) {
  return Wire().text(1, name).integer(3, value).integer(20, 2);
}

inline Wire body_attribute(std::string_view name, const Wire& graph) {
  return Wire().text(1, name).message(6, graph).integer(20, 5);
}

inline Wire node(std::string_view op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                 std::string_view name = "", std::string_view domain = "") {
  Wire wire;
  for (const std::string& input : inputs) wire.text(1, input);
  for (const std::string& output : outputs) wire.text(2, output);
  if (!name.empty()) wire.text(3, name);
  wire.text(4, op);
  if (!domain.empty()) wire.text(7, domain);
  return wire;
}

inline Wire tensor_type(int dtype, const std::vector<int64_t>& dims) {
  Wire shape;
  for (const int64_t dim : dims) shape.message(1, Wire().integer(1, dim));
  return Wire().message(1, Wire().integer(1, dtype).message(2, shape));
}

inline Wire value_info(std::string_view name, const Wire& type) { return Wire().text(1, name).message(2, type); }
inline Wire value_info(std::string_view name) { return value_info(name, tensor_type(1, {2})); }

inline Wire raw_tensor(std::string_view name, int dtype, const std::vector<int64_t>& dims, std::string_view raw_data) {
  Wire wire;
  for (const int64_t dim : dims) wire.integer(1, dim);
  return wire.integer(2, dtype).text(8, name).text(9, raw_data);
}

inline Wire external_tensor(std::string_view name, const std::vector<std::pair<std::string, std::string>>& entries,
                            const std::vector<int64_t>& dims = {2}) {
  Wire wire;
  for (const int64_t dim : dims) wire.integer(1, dim);
  wire.integer(2, 1).text(8, name);
  for (const auto& [key, value] : entries) wire.message(13, Wire().text(1, key).text(2, value));
  return wire.integer(14, 1);
}

// A graph X -> nodes -> Y; what else it has is appended to it.
inline Wire graph(const std::vector<Wire>& nodes, std::string_view name = "g") {
  Wire wire;
  for (const Wire& item : nodes) wire.message(1, item);
  return wire.text(2, name).message(11, value_info("X")).message(12, value_info("Y"));
}

inline Wire model(const Wire& main_graph) {
  return Wire().integer(1, 10).text(2, "test").message(7, main_graph).message(8, opset(17));
}

inline std::shared_ptr<const MappedFile> mapped(std::string_view bytes) {
  return MappedFile::from_bytes(std::as_bytes(std::span(bytes)), "bytes");
}

// A folder that is removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "assay_model_XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path put(std::string_view name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }
  std::string get(std::string_view name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::testing_support
