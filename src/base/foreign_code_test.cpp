#include "base/foreign_code.h"

#include <chrono>
#include <csignal>
#include <future>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

namespace assay {
namespace {

// Another thread begins while this one is in its code, and stays longer.
TEST(ForeignCode, ACrashNamesTheCodeOfItsThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto crash_beside = [](bool is_within) {
    install_crash_handlers();
    std::promise<void> entered;
    std::optional<ForeignCode> own;
    own.emplace("the one library");
    std::thread other([&] {
      const ForeignCode code("the other library");
      entered.set_value();
      std::this_thread::sleep_for(std::chrono::hours(1));
    });
    entered.get_future().wait();
    if (!is_within) own.reset();
    std::raise(SIGSEGV);
  };
  EXPECT_EXIT(crash_beside(true), testing::ExitedWithCode(3), "error: the one library crashed: segmentation fault");
  EXPECT_EXIT(crash_beside(false), testing::ExitedWithCode(3), "error: the other library crashed: segmentation fault");
}

}  // namespace
}  // namespace assay
