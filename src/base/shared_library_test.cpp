#include "base/shared_library.h"

#include <cfenv>

#include <gtest/gtest.h>

#include "base/error.h"

namespace assay {
namespace {

TEST(SharedLibrary, FindsSymbolsAndNamesItsFile) {
  const SharedLibrary library = SharedLibrary::open("libm.so.6");
  EXPECT_NE(library.find("cos"), nullptr);
  EXPECT_EQ(library.find("no_such_symbol"), nullptr);
  EXPECT_TRUE(library.path().is_absolute());
}

TEST(SharedLibrary, SaysWhyItCannotBeOpened) {
  try {
    SharedLibrary::open("/no/such/library.so");
    FAIL() << "it was opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.line().find("`/no/such/library.so` cannot be opened: cannot open shared object file"), 0u)
        << error.line();
  }
}

TEST(FloatModeGuard, RestoresTheRounding) {
  const int before = std::fegetround();
  {
    const FloatModeGuard guard;
    std::fesetround(FE_UPWARD);
    volatile float third = 1.0F;
    third = third / 3;
  }
  volatile float one = 1.0F;
  const float down = one / 3;
  std::fesetround(before);
  EXPECT_EQ(down, 1.0F / 3);
}

TEST(SignalGuard, RestoresHandlersAndMask) {
  struct sigaction before {};
  sigaction(SIGTERM, nullptr, &before);
  {
    const SignalGuard guard;
    signal(SIGTERM, SIG_IGN);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  }
  struct sigaction after {};
  sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGTERM), 0);
}

}  // namespace
}  // namespace assay
