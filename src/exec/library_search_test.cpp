#include "exec/library_search.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace assay::exec {
namespace {

namespace fs = std::filesystem;

const LibraryKind kKind = {.variable = "ASSAY_TEST_LIBRARY",
                           .wheel_files = {"vendor/capi/libvendor.so*"},
                           .distribution = "vendor",
                           .system_names = {"libvendor.so", "libvendor.so.[0-9]*"}};

// Everything that the search reads from the environment points into a temporary folder.
class LibrarySearchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(::testing::TempDir()) / ("library_search_" + std::to_string(getpid()));
    fs::create_directories(root_ / "bin");
    set("HOME", root_ / "home");
    set("PATH", root_ / "bin");
    for (const char* name : {"VIRTUAL_ENV", "PYENV_ROOT", "PYENV_VERSION", "LD_LIBRARY_PATH", "ASSAY_TEST_LIBRARY"}) {
      unsetenv(name);
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  static void set(const char* name, const fs::path& value) { setenv(name, value.c_str(), 1); }

  fs::path make_file(const fs::path& relative, const std::string& text = "x") const {
    const fs::path path = root_ / relative;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  // A prefix with an interpreter; its packages' folder.
  fs::path make_python(const fs::path& prefix) const {
    make_file(prefix / "bin/python3");
    fs::create_directories(root_ / prefix / "lib/python3.11/site-packages");
    return prefix / "lib/python3.11/site-packages";
  }
  fs::path make_package(const fs::path& packages, const std::string& version) const {
    fs::create_directories(root_ / packages / ("vendor-" + version + ".dist-info"));
    return make_file(packages / "vendor/capi/libvendor.so.1");
  }

  fs::path root_;
};

TEST_F(LibrarySearchTest, NothingIsFoundAndEveryPlaceIsNamed) {
  const FoundLibrary found = find_library(kKind, {});
  EXPECT_TRUE(found.path.empty());
  EXPECT_EQ(found.tried.front(), "PATH: python3: there is no Python");
  EXPECT_GT(found.tried.size(), 3u);
}

TEST_F(LibrarySearchTest, TheVariableNamesAFileOrAFolderAndNothingElseIsLookedAt) {
  const fs::path package = make_package(make_python("python"), "1.2");
  fs::create_symlink(root_ / "python/bin/python3", root_ / "bin/python3");
  const fs::path file = make_file("own/libvendor.so.7");
  set("ASSAY_TEST_LIBRARY", file);
  EXPECT_EQ(find_library(kKind, {}).path, file);
  set("ASSAY_TEST_LIBRARY", root_ / "own");
  EXPECT_EQ(find_library(kKind, {}).path, file);
  set("ASSAY_TEST_LIBRARY", root_ / "python/lib/python3.11/site-packages");
  EXPECT_EQ(find_library(kKind, {}).path, package);
  set("ASSAY_TEST_LIBRARY", root_ / "none");
  const FoundLibrary none = find_library(kKind, {});
  EXPECT_TRUE(none.path.empty());
  EXPECT_EQ(none.tried.size(), 1u);
}

TEST_F(LibrarySearchTest, TheOrderIsPythonThenVirtualThenPathThenUser) {
  const fs::path of_user = make_package("home/.local/lib/python3.9/site-packages", "4");
  EXPECT_EQ(find_library(kKind, {}).path, of_user);
  const fs::path on_path = make_package(make_python("python"), "3");
  fs::create_symlink(root_ / "python/bin/python3", root_ / "bin/python3");
  EXPECT_EQ(find_library(kKind, {}).path, on_path);
  const fs::path of_virtual = make_package(make_python("virtual"), "2");
  set("VIRTUAL_ENV", root_ / "virtual");
  EXPECT_EQ(find_library(kKind, {}).path, of_virtual);
  const fs::path chosen = make_package(make_python("chosen"), "1.0.1");
  const FoundLibrary found = find_library(kKind, {.python = root_ / "chosen/bin/python3"});
  EXPECT_EQ(found.path, chosen);
  EXPECT_EQ(found.version, "1.0.1");
  EXPECT_EQ(find_library(kKind, {.python = root_ / "chosen"}).path, chosen);
}

TEST_F(LibrarySearchTest, AVirtualEnvironmentMaySeeThePackagesOfItsBase) {
  const fs::path package = make_package(make_python("base"), "1");
  make_python("virtual");
  make_file("virtual/pyvenv.cfg",
            "home = " + (root_ / "base/bin").string() + "\ninclude-system-site-packages = false\n");
  EXPECT_TRUE(find_library(kKind, {.python = root_ / "virtual"}).path.empty());
  make_file("virtual/pyvenv.cfg",
            "Home = " + (root_ / "base/bin").string() + "\ninclude-system-site-packages = True\n");
  EXPECT_EQ(find_library(kKind, {.python = root_ / "virtual"}).path, package);
}

TEST_F(LibrarySearchTest, AShimOfPyenvLeadsToTheVersionThatItWouldRun) {
  const fs::path old = make_package(make_python("pyenv/versions/3.10.2"), "10");
  const fs::path recent = make_package(make_python("pyenv/versions/3.12.1"), "12");
  const fs::path shim = make_file("pyenv/shims/python3", "#!/usr/bin/env bash\n");
  make_file("pyenv/version", "3.12.1\n");
  EXPECT_EQ(find_library(kKind, {.python = shim}).path, recent);
  setenv("PYENV_VERSION", "3.10", 1);
  EXPECT_EQ(find_library(kKind, {.python = shim}).path, old);
  setenv("PYENV_VERSION", "2.7", 1);
  EXPECT_TRUE(find_interpreter(shim).empty());
}

TEST_F(LibrarySearchTest, APackageWithoutTheLibraryIsSaidToBeOne) {
  fs::create_directories(root_ / make_python("python") / "vendor/capi");
  const FoundLibrary found = find_library(kKind, {.python = root_ / "python"});
  EXPECT_NE(found.tried.front().find("the package is there, but not its C library"), std::string::npos);
}

TEST_F(LibrarySearchTest, TheLoadersFoldersComeLast) {
  const fs::path file = make_file("libraries/libvendor.so.3");
  setenv("LD_LIBRARY_PATH", (":" + (root_ / "libraries").string()).c_str(), 1);
  EXPECT_EQ(find_library(kKind, {}).path, file);
}

TEST_F(LibrarySearchTest, SearchesThatShareWhatTheyReadReadFoldersOnce) {
  const fs::path file = make_file("own/libvendor.so.7");
  set("ASSAY_TEST_LIBRARY", root_ / "own");
  const LibrarySearch shared = {.folders = std::make_shared<FolderNames>()};
  EXPECT_EQ(find_library(kKind, shared).path, file);
  make_file("own/libvendor.so");
  EXPECT_EQ(find_library(kKind, shared).path, file);
  EXPECT_EQ(find_library(kKind, {}).path, root_ / "own/libvendor.so");
}

TEST_F(LibrarySearchTest, SearchesThatShareWhatTheyReadFindThePythonOnce) {
  const LibrarySearch shared = {.folders = std::make_shared<FolderNames>()};
  EXPECT_TRUE(find_library(kKind, shared).path.empty());
  const fs::path package = make_package(make_python("python"), "1.2");
  fs::create_symlink(root_ / "python/bin/python3", root_ / "bin/python3");
  EXPECT_TRUE(find_library(kKind, shared).path.empty());
  EXPECT_EQ(find_library(kKind, {}).path, package);
}

}  // namespace
}  // namespace assay::exec
