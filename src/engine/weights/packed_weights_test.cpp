#include "engine/weights/packed_weights.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tensor/tensor.h"

namespace assay::engine {
namespace {

// Every form is filled with its number.
std::vector<Buffer> make_forms(PackedWeights& packed, const std::vector<tensor::Tensor>& weights,
                               const std::vector<uint64_t>& sizes) {
  std::vector<Buffer> forms;
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto fill = [&](std::byte* bytes) { std::fill_n(bytes, sizes[i], static_cast<std::byte>(i)); };
    forms.push_back(packed.get(weights[i], "form", sizes[i], fill));
  }
  return forms;
}

TEST(KeptWeights, FormsLieInLinesOfTheirOwnAndStayWithTheirHolders) {
  const std::vector<uint64_t> sizes = {1, 0, 64, 100, 70'000, 3, 5'000'001, 65, 2'100'000, 1'000'000, 40'000'000, 8};
  std::vector<tensor::Tensor> weights;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto value = static_cast<float>(i);
    weights.push_back(tensor::make_tensor<float>(tensor::DType::float32, {}, {&value, 1}));
  }
  std::vector<Buffer> forms;
  {
    KeptWeights packed;
    forms = make_forms(packed, weights, sizes);
    EXPECT_EQ(packed.get(weights[4], "form", sizes[4], [](std::byte*) { FAIL() << "made twice"; }).owner,
              forms[4].owner);
    EXPECT_EQ(packed.kept().size(), sizes.size());
    forms[6] = {};
    EXPECT_FALSE(packed.has(weights[6], "form"));
    EXPECT_TRUE(packed.has(weights[7], "form"));
  }
  for (size_t i = 0; i < forms.size(); ++i) {
    if (!forms[i].owner) continue;
    const std::byte* const bytes = host_bytes(forms[i].first);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % 64, 0) << i;
    EXPECT_TRUE(std::all_of(bytes, bytes + sizes[i], [&](std::byte b) { return b == static_cast<std::byte>(i); })) << i;
  }
}

}  // namespace
}  // namespace assay::engine
