#include "base/memory.h"

#include <fstream>
#include <memory>
#include <new>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary_folder.h"
#include "support/sanitized.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const char* text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

class GroupMemory : public testing::Test {
 protected:
  TemporaryFolder folder_;
  fs::path mount_ = folder_.path();
};

TEST_F(GroupMemory, TheTightestGroupOfTheSecondVersionCounts) {
  write(mount_ / "a/b/memory.max", "max\n");
  write(mount_ / "a/b/memory.current", "10\n");
  write(mount_ / "a/memory.max", "1000\n");
  write(mount_ / "a/memory.current", "700\n");
  write(mount_ / "a/memory.stat", "anon 100\ninactive_file 200\n");
  EXPECT_EQ(group_memory_left(mount_, "0::/a/b\n"), 500u);
  EXPECT_EQ(group_memory_left(mount_, "0::/elsewhere\n"), UINT64_MAX);
}

TEST_F(GroupMemory, TheFirstVersionHasAFolderOfItsOwn) {
  write(mount_ / "memory/a/memory.limit_in_bytes", "1000\n");
  write(mount_ / "memory/a/memory.usage_in_bytes", "1200\n");
  EXPECT_EQ(group_memory_left(mount_, "5:cpu:/a\n4:memory:/a\n"), 0u);
}

TEST(AvailableMemory, IsWhatTheProcessMayStillTake) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer needs addresses itself";
  EXPECT_GT(available_memory_bytes(), 0u);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {uint64_t{1} << 40, uint64_t{1} << 40};
    const rlimit small = {uint64_t{300} << 20, uint64_t{300} << 20};
    const bool fits = setrlimit(RLIMIT_AS, &limit) == 0 && setrlimit(RLIMIT_DATA, &small) == 0;
    _exit(fits && available_memory_bytes() <= small.rlim_cur ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(LimitMemory, IsOnTopOfWhatIsTaken) {
  if (kHasThreadSanitizer) GTEST_SKIP() << "the sanitizer needs addresses itself";
  const pid_t child = fork();
  if (child == 0) {
    limit_memory(uint64_t{64} << 20);
    const bool is_less = available_memory_bytes() <= uint64_t{64} << 20;
    // Volatile: Clang leaves out allocations of which nothing but a comparison with null is seen.
    std::byte* const volatile small = new (std::nothrow) std::byte[16 << 20];
    std::byte* const volatile large = new (std::nothrow) std::byte[128 << 20];
    _exit(is_less && small != nullptr && large == nullptr ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace assay
