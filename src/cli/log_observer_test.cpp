#include "cli/log_observer.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

namespace assay::cli {
namespace {

// What the observer shows on a terminal of these steps of work.
std::string shown(const std::vector<tasks::Progress>& steps) {
  int ours = -1;
  int theirs = -1;
  EXPECT_EQ(openpty(&ours, &theirs, nullptr, nullptr, nullptr), 0);
  std::FILE* err = fdopen(theirs, "w");
  {
    Log log(stdout, err);
    Environment environment = {"assay", "assay", stdin, stdout, err, log};
    const Command command = {};
    const Arguments arguments(command);
    LogObserver observer(arguments, environment);
    for (const tasks::Progress& step : steps) observer.on_progress(step);
  }
  std::fputs("end", err);
  std::fclose(err);
  std::string text;
  char piece[1000];  // a terminal gives what it has so far; after the end, an error
  for (ssize_t size = 0; (size = read(ours, piece, sizeof piece)) > 0;) text.append(piece, static_cast<size_t>(size));
  close(ours);
  return text;
}

TEST(LogObserver, ShowsNoProgressOfQuickWork) {
  EXPECT_EQ(shown({{"steps", 1, 10, 0.5}, {"steps", 10, 10, 1.9}, {"steps", 10, 10, 1.9, true}}), "end");
}

TEST(LogObserver, SaysHowMuchIsLeft) {
  EXPECT_EQ(shown({{"steps", 1, 4, 2.5}, {"steps", 2, 4, 2.6}, {"steps", 3, 4, 3, true}}),
            "\r\x1b[Ksteps: 1 of 4, 8 s left\r\x1b[Kend");
}

TEST(LogObserver, CountsWhereTheTotalIsNotKnown) {
  EXPECT_EQ(shown({{"steps", 3, 0, 5}}), "\r\x1b[Ksteps: 3 done, 5 send");
}

}  // namespace
}  // namespace assay::cli
