#include "tensor/scratch_file.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace assay::tensor {
namespace {

TEST(ScratchFile, KeepsWhatWasAppendedWithoutAName) {
  const TemporaryFolder folder;
  std::unique_ptr<ScratchFile> file = ScratchFile::make(folder.path());
  ASSERT_NE(file, nullptr);
  const std::vector<std::byte> first(10000, std::byte{1});
  const std::vector<std::byte> second(5, std::byte{2});
  const StoragePtr one = file->append(first);
  const StoragePtr two = file->append(second);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  one->release();
  file.reset();
  EXPECT_TRUE(std::ranges::equal(one->bytes(), first));
  EXPECT_TRUE(std::ranges::equal(two->bytes(), second));
}

TEST(ScratchFile, NeedsAFolder) { EXPECT_EQ(ScratchFile::make("/nowhere/at/all"), nullptr); }

}  // namespace
}  // namespace assay::tensor
