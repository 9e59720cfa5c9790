// Products by a library that stands in for cuBLASLt, on a card whose kernels the host runs.
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "simt/layer_check.h"

namespace assay::engine::cuda {
namespace {

using testing_support::difference;
using testing_support::numbers;
using testing_support::OnCard;

class LibraryProducts : public ::testing::Test {
 protected:
  LibraryProducts() {
    const std::filesystem::path tests = std::filesystem::path(ASSAY_HOST_MACHINE).parent_path().parent_path();
    ::setenv("ASSAY_CUBLASLT", (tests / "libhost_cublaslt.so").c_str(), 1);
  }
  ~LibraryProducts() override {
    ::unsetenv("ASSAY_CUBLASLT");
    ::unsetenv("ASSAY_HOST_CUBLASLT");
  }

  static std::string with_header(const std::string& text) {
    return "<ir_version: 10, opset_import: [\"\" : 21]> " + text;
  }
  // Checks a model of one layer that makes z, by its first runs and those of a graph.
  static void check(const std::string& text, double tolerance, bool permits_tf32 = false) {
    for (const char* const tactic : {"product.cublaslt", "product.cublaslt:1"}) {
      ProgramOptions options{.permits_tf32 = permits_tf32};
      options.tactics.replayed = {{"z", tactic}};
      const OnCard model(with_header(text), options);
      const std::vector<std::string> tactics = model.tactics();
      ASSERT_EQ(std::ranges::count(tactics, tactic), 1) << text.substr(0, 200);
      engine::Context context(model.program(), {}, false);
      const auto first = model.run(context);
      EXPECT_EQ(difference(first, model.expected(), tolerance), "") << text.substr(0, 200);
      for (int run = 0; run < 3; ++run) EXPECT_EQ(difference(model.run(context), first, 0), "");
    }
  }
  static std::vector<std::string> tactics(const std::string& text) {
    return OnCard(with_header(text), {.permits_tf32 = false}).tactics();
  }
  static std::string error_of(const std::string& text) {
    ProgramOptions options;
    options.tactics.replayed = {{"z", "product.cublaslt"}};
    const auto made = attempt([&] {
      const OnCard model(with_header(text), options);
      return true;
    });
    return std::holds_alternative<Error>(made) ? std::get<Error>(made).line() : "";
  }
};

std::string product(const std::string& type) {
  return "g (" + type + "[24,32] x, " + type + "[24,40] r) => (" + type + "[24,40] z) <" +
         numbers(type + "[32,40] w", 32 * 40) + ", " + numbers(type + "[40] b", 40) +
         "> { m = MatMul(x, w) a = Add(m, b) s = Add(a, r) z = Relu(s) }";
}

TEST_F(LibraryProducts, OfConstantsWithWhatIsAdded) {
  check(product("float16"), 0.05);
  check(product("bfloat16"), 0.5);
  check(product("float"), 0.05, true);
}

TEST_F(LibraryProducts, OfComputedMatricesInItems) {
  check("g (float16[3,24,32] x, float16[3,32,40] y) => (float16[3,24,40] z) { z = MatMul(x, y) }", 0.05);
  check("g (float16[2,24,32] x, float16[32,40] y) => (float16[2,24,40] z) { z = MatMul(x, y) }", 0.05);
  check("g (float16[32,24] x, float16[40,32] y) => (float16[24,40] z) { z = Gemm<transA = 1, transB = 1>(x, y) }",
        0.05);
}

TEST_F(LibraryProducts, OfPointwiseConvolutions) {
  check("g (float16[2,16,5,7] x) => (float16[2,24,5,7] z) <" + numbers("float16[24,16,1,1] w", 24 * 16) + ", " +
            numbers("float16[24] b", 24) + "> { c = Conv(x, w, b) z = Relu(c) }",
        0.05);
}

TEST_F(LibraryProducts, AreNoFirstChoice) {
  EXPECT_EQ(tactics(product("float16")), std::vector<std::string>{"product.tiles"});
}

TEST_F(LibraryProducts, AreRefusedWhereTheyAreWrongOrUnknown) {
  const std::string line = "the tactic `product.cublaslt` cannot compute the layer `z`";
  EXPECT_EQ(error_of(product("float16")), "");
  ::setenv("ASSAY_HOST_CUBLASLT", "wrong", 1);
  EXPECT_EQ(error_of(product("float16")), line);
  for (const char* const how : {"none", "refuses"}) {
    ::setenv("ASSAY_HOST_CUBLASLT", how, 1);
    EXPECT_EQ(error_of(product("float16")), line);
  }
  ::unsetenv("ASSAY_HOST_CUBLASLT");
  EXPECT_EQ(error_of(product("float")), line);  // exact
  EXPECT_EQ(error_of("g (float16[24,32] x) => (float16[24,40] z) <" + numbers("float16[32,40] w", 32 * 40) +
                     "> { m = MatMul(x, w) z = Tanh(m) }"),
            line);
  ::setenv("ASSAY_CUBLASLT", "/nowhere/libcublasLt.so.13", 1);
  EXPECT_EQ(error_of(product("float16")),
            line + ": no cuBLASLt library was found; `pip install nvidia-cublas` brings one");
}

// Operands in the middle of others: the engine's own kernel takes these.
TEST_F(LibraryProducts, StandAsideWhereAddressesDoNotSuit) {
  check(
      "g (float16[800] x) => (float16[24,40] z, float16[800] q) <int64[1] b = {3}, int64[1] e = {771}, int64[2] rows = "
      "{24, 32}, " +
          numbers("float16[32,40] w", 32 * 40) +
          "> { y = Neg(x) s = Slice(y, b, e) r = Reshape(s, rows) z = MatMul(r, w) q = Neg(y) }",
      0.05);
}

}  // namespace
}  // namespace assay::engine::cuda
