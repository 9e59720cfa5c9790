#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/read_file.h"
#include "support/data_touch.h"

namespace assay::testing_support {

// A temporary folder with files of saved data.
class DataFolder {
 public:
  DataFolder() {
    std::string name = std::filesystem::temp_directory_path() / "assay_data_XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~DataFolder() { std::filesystem::remove_all(path_); }
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  std::string read(const char* name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::filesystem::path put(const char* name, std::string_view bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::shared_ptr<const MappedFile> file_of(std::string_view bytes) {
  return MappedFile::from_bytes(std::as_bytes(std::span(bytes)), "data.json");
}

// The error that reading the bytes and using all of what they hold gives; empty if there is none.
inline std::string error_of(std::string_view bytes) {
  try {
    touch(formats::read_file(file_of(bytes)));
  } catch (const Error& error) {
    return error.line();
  }
  return {};
}

template <typename T>
tensor::Tensor tensor_of(tensor::DType dtype, tensor::Shape shape, const std::vector<T>& elements) {
  return tensor::make_tensor<T>(dtype, std::move(shape), elements);
}

inline tensor::Tensor strings_of(tensor::Shape shape, std::vector<std::string> strings) {
  return tensor::Tensor(tensor::DType::string, std::move(shape), tensor::make_strings(std::move(strings)));
}

inline std::string bytes_of(const tensor::Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size()};
}

// Type, shape and elements.
inline bool is_same(const tensor::Tensor& a, const tensor::Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == tensor::DType::string) return std::ranges::equal(a.strings(), b.strings());
  return bytes_of(a) == bytes_of(b);
}

inline bool is_same(const tensor::NamedData& a, const tensor::NamedData& b) {
  const auto same = [](const tensor::NamedDatum& x, const tensor::NamedDatum& y) {
    return x.name == y.name && is_same(x.value.tensor(), y.value.tensor());
  };
  return std::ranges::equal(a, b, same);
}

inline bool is_same(const formats::SavedInputs& a, const formats::SavedInputs& b) {
  const auto same = [](const tensor::NamedData& x, const tensor::NamedData& y) { return is_same(x, y); };
  return std::ranges::equal(a, b, same);
}

// A tensor of one element.
inline tensor::NamedDatum array(const char* name, uint8_t value) {
  return {name, tensor_of<uint8_t>(tensor::DType::uint8, {1}, {value})};
}

// Two iterations of inputs, and one runner's results of two.
inline const formats::SavedInputs kTwoInputs = {{array("x", 1), array("y", 2)}, {array("x", 3), array("y", 4)}};
inline const formats::SavedRuns kTwoResults = {{"r", {{{array("z", 5)}, 1.0, "r"}, {{array("z", 6)}, 1.0, "r"}}}};

}  // namespace assay::testing_support
