#include "ir/dims.h"

#include <limits>

#include <gtest/gtest.h>

namespace assay::ir {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

class Dims : public testing::Test {
 protected:
  std::string text(DimId dim) const { return dims_.text(dim, symbols_); }

  SymbolTable symbols_;
  DimTable dims_;
  DimId n_ = dims_.symbol(symbols_.intern("N"));
  DimId m_ = dims_.symbol(symbols_.intern("M"));
  DimId two_ = dims_.constant(2);
};

TEST_F(Dims, equal_expressions_have_equal_ids) {
  EXPECT_EQ(dims_.constant(2), two_);
  EXPECT_NE(dims_.constant(3), two_);
  EXPECT_EQ(dims_.symbol(symbols_.intern("N")), n_);
  EXPECT_EQ(dims_.add(n_, m_), dims_.add(m_, n_));
  EXPECT_EQ(dims_.add(dims_.add(n_, two_), m_), dims_.add(n_, dims_.add(two_, m_)));
  EXPECT_EQ(dims_.scale(dims_.add(n_, two_), 3), dims_.add(dims_.scale(n_, 3), dims_.constant(6)));
}

TEST_F(Dims, what_cancels_is_constant) {
  EXPECT_EQ(dims_.add(n_, dims_.scale(n_, -1)), dims_.constant(0));
  EXPECT_EQ(dims_.scale(n_, 0), dims_.constant(0));
  EXPECT_EQ(dims_.as_constant(dims_.add(two_, two_)), 4);
  EXPECT_EQ(dims_.as_constant(n_), std::nullopt);
}

TEST_F(Dims, unknown_stays_unknown) {
  EXPECT_EQ(dims_.add(kUnknownDim, two_), kUnknownDim);
  EXPECT_EQ(dims_.add(two_, kUnknownDim), kUnknownDim);
  EXPECT_EQ(dims_.scale(kUnknownDim, 0), kUnknownDim);
  EXPECT_EQ(dims_.as_constant(kUnknownDim), std::nullopt);
  EXPECT_NE(dims_.constant(0), kUnknownDim);
}

TEST_F(Dims, overflow_becomes_unknown) {
  EXPECT_EQ(dims_.add(dims_.constant(kMost), dims_.constant(1)), kUnknownDim);
  EXPECT_EQ(dims_.add(dims_.constant(kLeast), dims_.constant(-1)), kUnknownDim);
  EXPECT_EQ(dims_.scale(dims_.constant(kMost), 2), kUnknownDim);
  EXPECT_EQ(dims_.scale(dims_.constant(kLeast), -1), kUnknownDim);
  EXPECT_EQ(dims_.scale(dims_.scale(n_, kMost), 2), kUnknownDim);
  EXPECT_EQ(dims_.add(dims_.scale(n_, kMost), n_), kUnknownDim);
  EXPECT_EQ(dims_.as_constant(dims_.add(dims_.constant(kMost), dims_.constant(-1))), kMost - 1);
}

TEST_F(Dims, text) {
  EXPECT_EQ(text(kUnknownDim), "?");
  EXPECT_EQ(text(dims_.constant(-4)), "-4");
  EXPECT_EQ(text(n_), "N");
  EXPECT_EQ(text(dims_.add(dims_.scale(n_, 2), dims_.constant(1))), "2*N + 1");
  EXPECT_EQ(text(dims_.add(n_, dims_.constant(-1))), "N - 1");
  EXPECT_EQ(text(dims_.add(n_, dims_.constant(kLeast))), "N - 9223372036854775808");
  EXPECT_EQ(text(dims_.add(n_, m_)), "N + M");
}

TEST_F(Dims, expressions_stay_where_they_are) {
  const AffineDim* before = &dims_.expression(n_);
  for (int64_t i = 0; i < 10'000; ++i) dims_.constant(i);
  EXPECT_EQ(&dims_.expression(n_), before);
  EXPECT_EQ(text(n_), "N");
}

}  // namespace
}  // namespace assay::ir
