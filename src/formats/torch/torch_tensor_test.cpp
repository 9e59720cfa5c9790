#include "formats/torch/torch_tensor.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "formats/numpy/zip.h"
#include "formats/torch/pickle.h"

namespace assay::formats {
namespace {

using namespace std::string_literals;

// What torch writes for a matrix of 2 x 3 floats: protocol, the function, its arguments with the id of the storage.
std::string matrix_pickle() {
  return "\x80\x02"
         "ctorch._utils\n_rebuild_tensor_v2\nq\x00(("s
         "X\x07\x00\x00\x00storageq\x01"s
         "ctorch\nFloatStorage\nq\x02"s
         "X\x01\x00\x00\x00"
         "0q\x03"s
         "X\x03\x00\x00\x00"
         "cpuq\x04K\x06tq\x05QK\x00K\x02K\x03\x86q\x06K\x03K\x01\x86q\x07\x89"s
         "ccollections\nOrderedDict\nq\x08)Rq\x09tq\x0aRq\x0b."s;
}

class TorchTensor : public testing::Test {
 protected:
  tensor::Tensor read(const std::string& pickle, Bytes data) {
    OutputFile out(path_);
    ZipWriter zip(out);
    zip.add("archive/data.pkl", std::as_bytes(std::span(pickle)), {});
    zip.add("archive/data/0", data, {});
    zip.finish();
    out.commit();
    return torch_tensor(MappedFile::open(path_));
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "tensor";
};

TEST_F(TorchTensor, has_the_type_and_elements_that_were_saved) {
  const std::vector<float> elements = {0, 1, 2, 3, 4, 5};
  const tensor::Tensor read_back = read(matrix_pickle(), std::as_bytes(std::span(elements)));
  EXPECT_EQ(read_back.dtype(), tensor::DType::float32);
  EXPECT_EQ(read_back.shape(), (tensor::Shape{2, 3}));
  EXPECT_TRUE(std::ranges::equal(read_back.bytes(), std::as_bytes(std::span(elements))));
}

TEST_F(TorchTensor, damage_is_an_error) {
  const std::vector<float> elements = {0, 1, 2, 3, 4, 5};
  const std::string whole = matrix_pickle();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(read(whole.substr(0, size), std::as_bytes(std::span(elements))), Error) << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char other : {'\0', '(', 'R', 'Q', 't', 'h', '.', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = other;
      try {
        static_cast<void>(read(damaged, std::as_bytes(std::span(elements))).bytes());
      } catch (const Error&) {
      }
    }
  }
}

TEST_F(TorchTensor, long_descriptions_are_refused) {
  EXPECT_THROW(read_pickle("\x80\x02" + std::string(5000, 'N') + "."), Error);
}

}  // namespace
}  // namespace assay::formats
