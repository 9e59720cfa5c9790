// Plans that were built for devices which another process does not have.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "engine/plan/saved_plan.h"
#include "support/far_backend.h"
#include "support/parsed_model.h"

namespace assay {
namespace {

constexpr const char* kModel =
    "<ir_version: 8, opset_import: [\"\" : 17]> g (float[4,3] x) => (float[4,2] y) <float[3,2] w = {1, 2, 3, 4, 5, 6}> "
    "{ "
    "a = MatMul(x, w) y = Softmax(a) }";

std::filesystem::path plan_for(const std::string& backend, const TemporaryFolder& folder) {
  const ir::Model model = testing_support::parsed(kModel);
  const std::filesystem::path path = folder.path() / (backend + ".engine");
  Diagnostics findings;
  testing_support::find_any_backend(backend)->build_plan(model, {}, path, findings);
  return path;
}

std::string refusal_of(const std::string& backend, const std::filesystem::path& plan,
                       ErrorCode code = ErrorCode::usage) {
  Diagnostics findings;
  try {
    testing_support::find_any_backend(backend)->open_plan(plan, {}, findings);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.line();
  }
  return {};
}

TEST(FarPlans, AreListedWhereTheirDeviceIsUnknown) {
  const TemporaryFolder folder;
  const engine::SavedPlan plan = engine::open_plan(plan_for("engine-far", folder));
  ASSERT_EQ(plan.manifest().devices.size(), 2U);
  EXPECT_EQ(plan.manifest().devices[0].device, "far");
  EXPECT_TRUE(engine::text_of(plan.manifest().devices).starts_with("far: processor "));
  EXPECT_FALSE(plan.manifest().planned.at(0).layers.empty());
}

TEST(FarPlans, AreRefusedWhereTheirDeviceIsGone) {
  const TemporaryFolder folder;
  const std::filesystem::path far = plan_for("engine-far", folder);
  const std::filesystem::path near = plan_for("engine", folder);
  EXPECT_EQ(refusal_of("engine-far", far), "");
  EXPECT_EQ(refusal_of("engine", near), "");
  EXPECT_NE(refusal_of("engine", far, ErrorCode::unsupported)
                .find("was built for another machine (device far there, not here)"),
            std::string::npos);
  EXPECT_NE(refusal_of("engine-far", near).find("was built for another machine (device far here, not there)"),
            std::string::npos);
}

TEST(FarPlans, LeaveNothingWhereMemoryOfTheDeviceEnds) {
  const TemporaryFolder folder;
  const ir::Model model = testing_support::parsed(kModel);
  const auto backend =
      testing_support::far_backend(testing_support::far::Refuses::nothing,
                                   [](testing_support::FarDevice& far) { far.state().allocations_left = 0; });
  Diagnostics findings;
  try {
    backend->build_plan(model, {}, folder.path() / "a.engine", findings);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(exit_status(error.code()), kExitUndecided);
    EXPECT_NE(error.line().find("the MatMul node of `a`: far has no memory left on purpose"), std::string::npos)
        << error.line();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Permissions of a plan on a far device with these rules.
struct Permitted {
  std::vector<tensor::DType> types;  // of the results of layers
  int tf32_layers = 0;
  bool is_tf32_unused = false;  // as findings say
};

Permitted permitted(std::vector<tensor::DType> computes, bool computes_tf32, std::vector<std::string> settings) {
  const TemporaryFolder folder;
  std::shared_ptr<testing_support::far::State> state;
  const auto backend =
      testing_support::far_backend(testing_support::far::Refuses::nothing, [&](testing_support::FarDevice& far) {
        far.own_rules().computes = computes;
        far.own_rules().computes_tf32 = computes_tf32;
        state = far.shared_state();
      });
  exec::SessionOptions options;
  for (const std::string& name : settings) options.settings.set(name, {""});
  Diagnostics findings;
  const std::filesystem::path path = folder.path() / "a.engine";
  backend->build_plan(testing_support::parsed(kModel), options, path, findings);
  Permitted found;
  const engine::SavedPlan plan = engine::open_plan(path);
  for (const engine::LayerRecord& layer : plan.manifest().planned.at(0).layers) {
    for (const engine::LayerTensor& output : layer.outputs) found.types.push_back(output.dtype);
  }
  found.tf32_layers = state->tf32_layers;
  found.is_tf32_unused = std::ranges::any_of(findings.all(), [](const Diagnostic& finding) {
    return finding.message.find("TF32 is permitted and not used") != std::string::npos;
  });
  return found;
}

TEST(FarPermissions, AreUsedByDevicesThatComputeThem) {
  using enum tensor::DType;
  const auto halves = [](const Permitted& found) { return std::ranges::count(found.types, float16) > 1; };
  EXPECT_TRUE(halves(permitted({float32, float16}, false, {"fp16"})));
  EXPECT_FALSE(halves(permitted({float32, float16}, false, {})));
  EXPECT_FALSE(halves(permitted({float32}, false, {"fp16"})));
  EXPECT_FALSE(halves(permitted({float32}, false, {"fp16", "strict"})));  // computed in float32, and rounded
  const Permitted used = permitted({float32}, true, {"tf32"});
  EXPECT_GT(used.tf32_layers, 0);
  EXPECT_FALSE(used.is_tf32_unused);
  EXPECT_EQ(permitted({float32}, true, {}).tf32_layers, 0);
  EXPECT_EQ(permitted({float32}, true, {"tf32", "strict"}).tf32_layers, 0);
  const Permitted unused = permitted({float32}, false, {"tf32"});
  EXPECT_EQ(unused.tf32_layers, 0);
  EXPECT_TRUE(unused.is_tf32_unused);
}

}  // namespace
}  // namespace assay
