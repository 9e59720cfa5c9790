#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::cases {

// One test of an index that tools/make_node_tests.py wrote.
struct OnnxTest {
  std::string kind;
  std::string name;
  std::string folder;  // relative to the index
  double rtol = 0;
  double atol = 0;
  size_t data_sets = 0;
};

// Error (parse) if the file is not such an index.
std::vector<OnnxTest> read_onnx_index(const std::filesystem::path& path);

}  // namespace assay::cases
