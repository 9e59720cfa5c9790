#include "base/scratch_file.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> piece(size_t index, size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(index * 31 + i * 7 + i / 256);
  return bytes;
}

TEST(ScratchFile, KeepsWhatIsAddedWhenItIsGone) {
  const TemporaryFolder folder;
  const std::vector<size_t> sizes = {1, 5000, 3 << 20, 15 << 20, 0, 40 << 20, 12};
  std::vector<ScratchFile::Range> ranges;
  {
    ScratchFile scratch(folder.path());
    for (size_t i = 0; i < sizes.size(); ++i) {
      const std::optional<ScratchFile::Range> range = scratch.append(piece(i, sizes[i]));
      ASSERT_TRUE(range);
      EXPECT_EQ(range->offset % 4096, 0U);
      EXPECT_TRUE(fs::is_empty(folder.path()));
      ranges.push_back(*range);
    }
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Bytes found = ranges[i].file->bytes().subspan(ranges[i].offset, sizes[i]);
    EXPECT_TRUE(std::ranges::equal(found, piece(i, sizes[i]))) << i;
    ranges[i].file->release(ranges[i].offset, sizes[i]);
    EXPECT_TRUE(std::ranges::equal(found, piece(i, sizes[i]))) << i;
  }
}

TEST(ScratchFile, TellsWhereItCannotBe) {
  const TemporaryFolder folder;
  ScratchFile scratch(folder.path() / "missing");
  EXPECT_FALSE(scratch.append(piece(0, 10)));
}

}  // namespace
}  // namespace assay
