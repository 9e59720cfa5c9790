#include "formats/new_folder.h"

#include <fstream>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"

namespace assay::formats {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& folder) { std::ofstream(folder / "file") << "x"; }

TEST(NewFolder, StaysOnlyIfItIsComplete) {
  const TemporaryFolder around;
  const fs::path path = around.path() / "a" / "b";
  {
    const NewFolder folder(path);
    put(path);
  }
  EXPECT_FALSE(fs::exists(path));
  {
    NewFolder folder(path);
    put(path);
    folder.commit();
  }
  EXPECT_TRUE(fs::exists(path / "file"));
  EXPECT_THROW(NewFolder{path}, Error);
  EXPECT_TRUE(fs::exists(path / "file"));
}

// Whether the folder is there after a signal that comes before or after commit().
bool survives(const fs::path& path, bool is_complete) {
  const pid_t child = fork();
  if (child == 0) {
    install_signal_handlers();
    NewFolder folder(path);
    put(path);
    if (is_complete) folder.commit();
    raise(SIGTERM);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return fs::exists(path);
}

TEST(NewFolder, ASignalLeavesNoHalf) {
  const fs::path around = make_temporary_folder("assay_test");  // unlike the class, nothing that the child removes too
  EXPECT_FALSE(survives(around / "half", false));
  EXPECT_TRUE(survives(around / "whole", true));
  fs::remove_all(around);
}

}  // namespace
}  // namespace assay::formats
