#include "base/temporary_folder.h"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"

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

TEST(TemporaryFolder, GoesWhenASignalEndsTheProgram) {
  const fs::path around = make_temporary_folder("assay_test");  // unlike the class, nothing that the child removes too
  const fs::path note = around / "note";
  const pid_t child = fork();
  if (child == 0) {
    install_signal_handlers();
    const TemporaryFolder folder;
    std::ofstream(note) << folder.path().string();
    fs::create_directories(folder.path() / "inner" / "deep");
    for (int i = 0; i < 300; ++i) std::ofstream(folder.path() / "inner" / fmt::format("file {}", i)) << "x";
    fs::create_directory_symlink(around, folder.path() / "link");
    raise(SIGTERM);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::string path;
  std::getline(std::ifstream(note), path);
  EXPECT_FALSE(path.empty());
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(note));  // what a link leads to stays
  fs::remove_all(around);
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
