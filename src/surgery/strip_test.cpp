#include "surgery/strip.h"

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "ir/edit.h"
#include "support/model_checks.h"
#include "support/parsed_model.h"
#include "surgery/reconstruct.h"
#include "tensor/elements.h"

namespace assay::surgery {
namespace {

using testing_support::error_of;
using testing_support::import_bytes;
using testing_support::parsed;
using testing_support::saved;
using testing_support::value_named;

constexpr std::string_view kModel =
    "g (float[1,4] x, bool c) => (float[1,2] y, float[1,4] u, float[4,2] v) "
    "<float[4,2] dense = {1,2,3,4,5,6,7,8}, float[4,4] sparse = {0,0,0,0, 1,1,1,1, 0,0,0,0, 2,2,2,2},"
    " float[2] bias = {1,2}, float16[4,2] q = {1,2,3,4,5,6,7,8}, float one = {1}, int8 zero = {0}> {\n"
    "  y = Gemm(x, dense, bias)\n  u = MatMul(x, sparse)\n"
    "  v = If<then_branch = t () => (float[4,2] p) <float[4,4] inner = {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}>"
    " { p = MatMul(inner, dense) }, else_branch = e () => (float[4,2] r) { r = Identity(dense) }>(c)\n}";

std::string names(const std::vector<StrippedWeight>& weights) {
  std::string text;
  for (const StrippedWeight& weight : weights) text += weight.name + (weight.is_sparse ? "* " : " ");
  return text;
}

std::string file_of(std::string_view text) { return saved(parsed(std::string(text))); }

std::string stripped(const std::string& file) {
  ir::Model model = import_bytes(file);
  Diagnostics findings;
  strip(model, {}, findings);
  ir::check_structure(model);
  return saved(model);
}

std::string reconstructed(const std::string& file, uint64_t seed) {
  ir::Model model = import_bytes(file);
  reconstruct(model, seed);
  return saved(model);
}

TEST(Strip, finds_weights_in_bodies_too_and_marks_them) {
  ir::Model model = import_bytes(file_of(kModel));
  Diagnostics findings;
  const std::vector<std::string> excluded = {"bias", "nobody"};
  EXPECT_EQ(names(strip(model, excluded, findings)), "dense sparse* inner ");
  ASSERT_EQ(findings.all().size(), 1u);
  EXPECT_EQ(findings.all()[0].message, "the model has no initializer `nobody`, which the exclude list names");
  EXPECT_EQ(model.header().doc, "TRT_WEIGHTLESS");
  const ir::Model again = import_bytes(saved(model));
  const ir::TensorEntry& entry = again[again[value_named(again, "sparse")].constant];
  EXPECT_TRUE(entry.stripped);
  EXPECT_EQ(entry.doc, kSparseMark);
  EXPECT_EQ(entry.tensor.shape(), (tensor::Shape{4, 4}));
  const std::optional<Error> error = error_of([&] { entry.tensor.bytes(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::unsupported);
}

TEST(Strip, follows_quantisation_and_calls) {
  ir::Model model = parsed(
      "g (float[1,4,1,1] x) => (float[1,1,1,1] y) "
      "<float[1,4,1,1] w = {1,2,3,4}, float s = {1}, int8 z = {0}, float[1,4,1,1] k = {1,2,3,4}> {\n"
      "  q = QuantizeLinear(w, s, z)\n  d = DequantizeLinear(q, s, z)\n  y = Conv(x, d)\n  u = local.f(x, k)\n}\n"
      "<domain: \"local\", opset_import: [\"\" : 21]> f (a, b) => (c) { c = Conv(a, b) }");
  Diagnostics findings;
  EXPECT_EQ(names(strip(model, {}, findings)), "w k ");
}

TEST(Reconstruct, gives_numbers_that_the_seed_decides) {
  const std::string file = stripped(file_of(kModel));
  const std::string first = reconstructed(file, 1);
  EXPECT_EQ(first, reconstructed(file, 1));
  EXPECT_NE(first, reconstructed(file, 2));
  set_thread_count(1);
  EXPECT_EQ(first, reconstructed(file, 1));
  set_thread_count(0);
  const ir::Model model = import_bytes(first);
  EXPECT_EQ(model.header().doc, "");
  const ir::TensorEntry& sparse = model[model[value_named(model, "sparse")].constant];
  EXPECT_EQ(sparse.doc, "");
  const std::vector<double> values = tensor::load_elements<double>(sparse.tensor);
  EXPECT_EQ(std::ranges::count(values, 0.0), 8);
}

TEST(Reconstruct, is_undone_by_stripping) {
  const std::string file = stripped(file_of(kModel));
  EXPECT_NE(file, file_of(kModel));
  EXPECT_EQ(stripped(reconstructed(file, 1)), file);
}

TEST(Reconstruct, takes_weights_of_the_full_model) {
  const std::string full = file_of(kModel);
  ir::Model model = import_bytes(stripped(full));
  EXPECT_EQ(reconstruct(model, import_bytes(full)).size(), 4u);
  EXPECT_EQ(saved(model), full);
  ir::Model other = import_bytes(stripped(full));
  const std::optional<Error> error =
      error_of([&] { reconstruct(other, parsed("g (float x) => (float y) { y = Neg(x) }")); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->line(), "the other model has no weight `dense`");
}

TEST(Reconstruct, scalars_and_every_type) {
  for (const std::string_view type : {"float", "double", "float16", "bfloat16", "int8", "int64", "complex64", "int4"}) {
    ir::Model model = parsed("g (float[1] x) => (float[1] y) { y = Neg(x) }");
    ir::Edit edit(model);
    const tensor::DType dtype = *tensor::find_dtype(type);
    const ir::TensorId id = edit.add_tensor({.tensor = tensor::make_stripped(dtype, {}), .stripped = true});
    const ir::ValueId value = edit.add_initializer(model.main_graph(), edit.intern("w"), id);
    EXPECT_EQ(reconstruct(model, 1).size(), 1u);
    EXPECT_EQ(model[model[value].constant].tensor.bytes().size(), *tensor::packed_bytes(dtype, 1)) << type;
  }
}

TEST(Reconstruct, refuses_what_memory_cannot_hold) {
  ir::Model model = parsed("g (float[1] x) => (float[1] y) { y = Neg(x) }");
  ir::Edit edit(model);
  const ir::TensorId id =
      edit.add_tensor({.tensor = tensor::make_stripped(tensor::DType::float32, {int64_t{1} << 50}), .stripped = true});
  edit.add_initializer(model.main_graph(), edit.intern("w"), id);
  const std::optional<Error> error = error_of([&] { reconstruct(model, 1); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::limit);
}

}  // namespace
}  // namespace assay::surgery
