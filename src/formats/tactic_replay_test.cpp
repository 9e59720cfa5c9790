#include "formats/tactic_replay.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"

namespace assay::formats {
namespace {

TEST(TacticReplay, ComesBackFromTheFile) {
  const TacticReplay replay = {{"y", "conv.onednn:channels"}, {"a \"b\"", "reference"}};
  const TemporaryFolder folder;
  save_tactic_replay(replay, folder.path() / "t.json");
  const std::shared_ptr<const MappedFile> file = MappedFile::open(folder.path() / "t.json");
  const Bytes bytes = file->bytes();
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_EQ(parse_tactic_replay(text), replay);
  EXPECT_TRUE(text.ends_with("\"polygraphy_class\": \"TacticReplayData\"\n}")) << text;
}

TEST(TacticReplay, OtherTextIsRefused) {
  for (const char* const text : {"", "{}", "[]", R"({"replay": []})", R"({"replay": {"y": {}}})",
                                 R"({"replay": {"y": {"implementation": 5, "tactic": 1}}})"}) {
    EXPECT_THROW(parse_tactic_replay(text), Error) << text;
  }
}

// The text is what the peer prints of this file.
TEST(TacticReplay, TacticsOfTensorRtAreRead) {
  const results::RecordedTactics tactics = parse_recorded_tactics(
      R"({"replay": {"a": {"implementation": 2147483651, "tactic": 1, "inputs": [{"dtype": "DataType.FLOAT", "strides":
      [1], "vectorized_dim": -1, "components_per_element": 1, "polygraphy_class": "TensorInfo"}], "outputs": [],
      "polygraphy_class": "Algorithm"}}, "polygraphy_class": "TacticReplayData"})");
  ASSERT_EQ(tactics.size(), 1);
  EXPECT_EQ(tactics[0].second,
            (results::RecordedTactic{"2147483651", "1", {"TensorInfo(DataType.FLOAT, (1,), -1, 1)"}, {}}));
}

}  // namespace
}  // namespace assay::formats
