#include "debug/file_claim.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "support/model_checks.h"

namespace assay::debug {
namespace {

using testing_support::error_of;

TEST(FileClaim, one_at_a_time_may_write_a_file) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "polygraphy_debug.onnx";
  {
    const FileClaim first(file);
    const FileClaim other(folder.path() / "other.onnx");
    const std::optional<Error> refused = error_of([&] { const FileClaim second(file); });
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code(), ErrorCode::usage);
    EXPECT_NE(refused->line().find("another command is writing"), std::string::npos);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  const FileClaim again(file);
}

TEST(FileClaim, a_lock_that_was_left_behind_is_taken) {
  const TemporaryFolder folder;
  {
    std::FILE* const left = std::fopen((folder.path() / ".a.onnx.lock").c_str(), "w");
    std::fclose(left);
  }
  const FileClaim claim(folder.path() / "a.onnx");
}

TEST(FileClaim, a_folder_that_is_not_there) {
  const std::optional<Error> refused = error_of([] { const FileClaim claim("/nowhere/a.onnx"); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code(), ErrorCode::io);
}

}  // namespace
}  // namespace assay::debug
