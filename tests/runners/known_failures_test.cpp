#include "runners/known_failures.h"

#include <gtest/gtest.h>

#include "runners/run_model.h"
#include "support/wire_builder.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;
using Kind = KnownFailures::Kind;
using Lines = std::vector<std::string>;

// A folder with the files math/add.case and math/abs.case.
class KnownFailuresTest : public ::testing::Test {
 protected:
  KnownFailuresTest() {
    fs::create_directory(folder_.path() / "math");
    folder_.put("math/add.case", "");
    folder_.put("math/abs.case", "");
  }
  KnownFailures list(const std::string& text) const { return KnownFailures(folder_.put("known.txt", text)); }
  std::string refusal(const std::string& text) const {
    const std::string failure = failure_of([&] { list(text); });
    return failure.substr(std::min(failure.size(), folder_.path().string().size() + 1));
  }

  fs::path add_ = "cases/math/add.case";
  fs::path abs_ = "cases/math/abs.case";

 private:
  testing_support::TemporaryFolder folder_;
};

TEST_F(KnownFailuresTest, runs_are_found_by_name_and_by_wildcards) {
  KnownFailures known = list("because x\n  math/add.case a@1 b:*\n");
  EXPECT_EQ(known.find(add_, "a@1"), Kind::always);
  EXPECT_EQ(known.find(add_, "b:f32@7"), Kind::always);
  EXPECT_EQ(known.find(add_, "a@13"), Kind::none);
  EXPECT_EQ(known.find(abs_, "a@1"), Kind::none);
  EXPECT_EQ(known.find("cases/shape/add.case", "a@1"), Kind::none);
}

TEST_F(KnownFailuresTest, files_have_wildcards) {
  KnownFailures known = list("because x\n  math/a*.case *:f64@*\n");
  EXPECT_EQ(known.find(add_, "a:f64@1"), Kind::always);
  EXPECT_EQ(known.find(abs_, "b:f64@1"), Kind::always);
  EXPECT_EQ(known.find(abs_, "b:f32@1"), Kind::none);
}

TEST_F(KnownFailuresTest, paragraphs_say_how) {
  KnownFailures known = list(
      "# one\nbecause x\n  math/add.case a@1\n\nsometimes because y\n  math/add.case b@1\n"
      "not run because z\n  math/add.case c@1\n");
  EXPECT_EQ(known.find(add_, "a@1"), Kind::always);
  EXPECT_EQ(known.find(add_, "b@1"), Kind::sometimes);
  EXPECT_EQ(known.find(add_, "c@1"), Kind::not_run);
}

TEST_F(KnownFailuresTest, the_first_that_fits_counts) {
  KnownFailures known = list("sometimes because x\n  math/add.case a@1\nbecause y\n  math/*.case a@*\n");
  EXPECT_EQ(known.find(add_, "a@1"), Kind::sometimes);
  EXPECT_EQ(known.find(add_, "a@7"), Kind::always);
}

TEST_F(KnownFailuresTest, what_is_first_for_no_run_is_stale) {
  KnownFailures known = list("because x\n  math/add.case a@* a@1 gone@*\n");
  known.find(add_, "a@1");
  EXPECT_EQ(known.stale(), (Lines{"math/add.case a@1", "math/add.case gone@*"}));
}

TEST_F(KnownFailuresTest, nothing_is_stale_before_all_its_files_were_seen) {
  KnownFailures known = list("because x\n  math/*.case gone@1\n");
  known.find(add_, "a@1");
  EXPECT_EQ(known.stale(), Lines());
  known.find(abs_, "a@1");
  EXPECT_EQ(known.stale(), (Lines{"math/*.case gone@1"}));
}

TEST_F(KnownFailuresTest, refuses_files_that_do_not_exist_and_lines_without_reason) {
  EXPECT_EQ(refusal("because x\n  math/sub.case a@1\n"), "known.txt:2: `math/sub.case` fits no file of cases");
  EXPECT_EQ(refusal("because x\n  m*/add.case a@1\n"), "known.txt:2: `m*/add.case` fits no file of cases");
  EXPECT_EQ(refusal("because x\n  add.case a@1\n"), "known.txt:2: `add.case` fits no file of cases");
  EXPECT_EQ(refusal("\n  math/add.case a@1\n"),
            "known.txt:2: expected `because REASON` or, indented, a file and its runs");
  EXPECT_EQ(refusal("why\n"), "known.txt:1: expected `because REASON` or, indented, a file and its runs");
}

}  // namespace
}  // namespace assay::cases
