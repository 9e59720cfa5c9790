#include "base/temporary_folder.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryFolder, IsPrivateAndGoesWithWhatIsInIt) {
  fs::path first;
  {
    const TemporaryFolder one;
    const TemporaryFolder two;
    first = one.path();
    EXPECT_NE(one.path(), two.path());
    EXPECT_EQ(fs::status(first).permissions(), fs::perms::owner_all);
    fs::create_directory(first / "inner");
    std::ofstream(first / "inner" / "file") << "x";
    EXPECT_TRUE(fs::exists(first / "inner" / "file"));
  }
  EXPECT_FALSE(fs::exists(first));
}

TEST(TemporaryFolder, NeedsAPlace) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", "/nowhere/at/all", 1);
  EXPECT_THROW(TemporaryFolder(), Error);
  if (before == nullptr) {
    unsetenv("TMPDIR");
  } else {
    setenv("TMPDIR", kept.c_str(), 1);
  }
}

}  // namespace
}  // namespace assay
