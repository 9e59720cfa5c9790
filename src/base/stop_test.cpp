#include "base/stop.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay {
namespace {

TEST(Stop, ends_the_work_of_its_thread) {
  EXPECT_FALSE(stop_token().stop_possible());
  std::stop_source outer;
  std::stop_source inner;
  const StopScope scope(outer.get_token());
  check_stopped();
  {
    const StopScope deeper(inner.get_token());
    outer.request_stop();
    check_stopped();
    inner.request_stop();
    EXPECT_THROW(check_stopped(), Error);
  }
  try {
    check_stopped();
    FAIL() << "it goes on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace assay
