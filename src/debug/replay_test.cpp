#include "debug/replay.h"

#include <fstream>

#include <gtest/gtest.h>

namespace assay::debug {
namespace {

class Replays : public testing::Test {
 protected:
  Replays() : folder_(std::filesystem::path(testing::TempDir()) / "replays") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~Replays() override { std::filesystem::remove_all(folder_); }

  static JudgedIteration judged(uint64_t index, bool passed) {
    return {.index = index, .passed = passed, .node_count = 10 - index, .subject = "a \"model\""};
  }
  Replay loaded() const { return load_replay(path()); }
  Replay loaded_with_current() const { return load_replay(folder_ / "r_skip_current.json"); }
  std::filesystem::path path() const { return folder_ / "r.json"; }

 private:
  std::filesystem::path folder_;
};

TEST_F(Replays, GrowByWhatIsJudged) {
  ReplayWriter writer(path());
  writer.note_current("_N0", judged(0, true));
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_FALSE(loaded_with_current().at("_N0").passed);
  writer.add("_N0", judged(0, true));
  writer.note_current("_N1", judged(1, true));
  EXPECT_EQ(loaded().size(), 1U);
  EXPECT_TRUE(loaded_with_current().at("_N0").passed);
  EXPECT_FALSE(loaded_with_current().at("_N1").passed);
  writer.add("_N1", judged(1, true));
  writer.add("_N2", judged(2, false));
  const Replay read = loaded();
  ASSERT_EQ(read.size(), 3U);
  EXPECT_TRUE(read.at("_N1").passed);
  EXPECT_FALSE(read.at("_N2").passed);
  EXPECT_EQ(read.at("_N2").index, 2U);
  EXPECT_EQ(read.at("_N2").node_count, 8U);
  EXPECT_EQ(read.at("_N2").subject, "a \"model\"");
}

TEST_F(Replays, AreWrittenAnewWhereACheckHasChangedThem) {
  ReplayWriter writer(path());
  writer.add("_N0", judged(0, true));
  std::filesystem::remove(path());
  writer.add("_N1", judged(1, false));
  EXPECT_EQ(loaded().size(), 2U);
  std::ofstream(path()) << "nonsense";
  writer.add("_N2", judged(2, false));
  EXPECT_EQ(loaded().size(), 3U);
}

TEST_F(Replays, OfNoFileAreNotWritten) {
  ReplayWriter writer("");
  writer.note_current("_N0", judged(0, true));
  writer.add("_N0", judged(0, true));
  EXPECT_FALSE(std::filesystem::exists("_skip_current"));
}

}  // namespace
}  // namespace assay::debug
