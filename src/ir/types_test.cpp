#include "ir/types.h"

#include <gtest/gtest.h>

namespace assay::ir {
namespace {

using tensor::DType;

class Types : public testing::Test {
 protected:
  TypeId holder(TypeKind kind, TypeId element, DType key = DType::undefined) {
    Type type;
    type.kind = kind;
    type.dtype = key;
    type.element = element;
    return types_.intern(type);
  }

  TypeTable types_;
  DimId two_{1}, three_{2};
  TypeId unknown_;
};

TEST_F(Types, equal_types_have_equal_ids) {
  EXPECT_EQ(types_.tensor(DType::float32, {two_}), types_.tensor(DType::float32, {two_}));
  EXPECT_NE(types_.tensor(DType::float32, {two_}), types_.tensor(DType::float16, {two_}));
  EXPECT_NE(types_.tensor(DType::float32, {}), types_.unranked_tensor(DType::float32));
  const TypeId element = types_.tensor(DType::int64, {});
  EXPECT_EQ(holder(TypeKind::sequence, element), holder(TypeKind::sequence, element));
  EXPECT_NE(holder(TypeKind::sequence, element), holder(TypeKind::optional, element));
  EXPECT_EQ(types_.size(), 7u);
}

TEST_F(Types, a_type_that_says_more_refines) {
  const TypeId full = types_.tensor(DType::float32, {two_, three_});
  const TypeId partial = types_.tensor(DType::float32, {two_, kUnknownDim});
  const TypeId unranked = types_.unranked_tensor(DType::float32);
  const TypeId any = types_.unranked_tensor(DType::undefined);
  const std::vector<TypeId> chain = {full, partial, unranked, any, unknown_};
  for (size_t i = 0; i < chain.size(); ++i) {
    for (size_t j = 0; j < chain.size(); ++j) EXPECT_EQ(types_.refines(chain[i], chain[j]), i <= j) << i << j;
  }
}

TEST_F(Types, different_types_do_not_refine) {
  const TypeId type = types_.tensor(DType::float32, {two_});
  EXPECT_FALSE(types_.refines(type, types_.tensor(DType::float32, {three_})));
  EXPECT_FALSE(types_.refines(type, types_.tensor(DType::float32, {two_, two_})));
  EXPECT_FALSE(types_.refines(type, types_.tensor(DType::int32, {two_})));
  EXPECT_FALSE(types_.refines(type, holder(TypeKind::sequence, type)));
}

TEST_F(Types, elements_refine_likewise) {
  const TypeId full = types_.tensor(DType::float32, {two_});
  const TypeId unranked = types_.unranked_tensor(DType::float32);
  EXPECT_TRUE(types_.refines(holder(TypeKind::sequence, full), holder(TypeKind::sequence, unranked)));
  EXPECT_FALSE(types_.refines(holder(TypeKind::sequence, unranked), holder(TypeKind::sequence, full)));
  EXPECT_TRUE(types_.refines(holder(TypeKind::optional, full), holder(TypeKind::optional, unknown_)));
  EXPECT_FALSE(types_.refines(holder(TypeKind::optional, unknown_), holder(TypeKind::optional, full)));
  const TypeId map = holder(TypeKind::map, full, DType::int64);
  EXPECT_TRUE(types_.refines(map, holder(TypeKind::map, unranked, DType::int64)));
  EXPECT_FALSE(types_.refines(map, holder(TypeKind::map, full, DType::string)));
}

}  // namespace
}  // namespace assay::ir
