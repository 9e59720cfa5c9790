#include "passes/pass.h"

#include <set>

#include <gtest/gtest.h>

#include "base/files.h"
#include "schema/schema.h"
#include "support/pass_checks.h"

namespace assay::passes {
namespace {

TEST(Passes, NamesAreUniqueAndDescribed) {
  std::set<std::string_view> names;
  for (const Registered<Pass>& entry : registered_passes()) {
    const Pass pass = entry.make();
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_FALSE(pass.summary.empty() || pass.summary.ends_with('.')) << pass.name;
    EXPECT_NE(pass.run, nullptr) << pass.name;
  }
  EXPECT_GE(names.size(), 12u);
}

TEST(Passes, FilesSayWhatTheyDo) {
  for (const Registered<Pass>& entry : registered_passes()) {
    const std::string own = fmt::format("{}/src/passes/rewrites/{}.cpp", ASSAY_SOURCE_DIR, entry.path);
    const std::string converting = fmt::format("{}/src/convert/passes/{}.cpp", ASSAY_SOURCE_DIR, entry.path);
    const std::shared_ptr<const MappedFile> file = MappedFile::open(std::filesystem::exists(own) ? own : converting);
    const Bytes bytes = file->bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    EXPECT_TRUE(text.starts_with("// Before: ")) << entry.path;
    EXPECT_NE(text.find("\n// After:  "), std::string_view::npos) << entry.path;
    EXPECT_NE(text.find("\n// Only if: "), std::string_view::npos) << entry.path;
    const bool is_rounding = entry.make().pass_class == PassClass::rounding;
    EXPECT_EQ(text.find("\n// Class:  rounding") != std::string_view::npos, is_rounding) << entry.path;
  }
}

TEST(Passes, DoNothingWhereNothingIsToBeDone) {
  const std::string model = fmt::format(
      "<ir_version: {}, opset_import: [\"\" : {}]> g (float[N,4] x) => (float[N,4] y) <float[4] w = {{1, 2, 3, 4}}> "
      "{{a = Add(x, w) y = Exp(a)}}",
      schema::newest_ir_version(), schema::newest_version("").value());
  for (const Registered<Pass>& entry : registered_passes()) {
    const Pass pass = entry.make();
    if (pass.pass_class == PassClass::lossy) continue;
    EXPECT_EQ(testing_support::rewritten(pass.name, model).steps, 0u) << pass.name;
  }
}

TEST(Passes, SequencesNamePassesThatThereAre) {
  for (const PassNames names : {cleanup_passes(), folding_passes(), simplify_passes(), fusion_passes()}) {
    for (const std::string_view name : names) EXPECT_EQ(find_pass(name).name, name);
  }
}

}  // namespace
}  // namespace assay::passes
