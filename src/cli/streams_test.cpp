#include "cli/streams.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "support/captured_environment.h"

namespace assay::cli {
namespace {

TEST(Streams, a_full_disk_is_an_error) {
  CapturedEnvironment captured;
  std::FILE* full = std::fopen("/dev/full", "w");
  std::fputs("text", full);
  EXPECT_EQ(finish_stream(full, 0, captured.log), 2);
  EXPECT_EQ(captured.err(), "[!] error: writing standard output: no space left on device\n");
  std::fclose(full);
}

TEST(Streams, a_full_disk_is_an_error_also_in_the_middle) {
  CapturedEnvironment captured;
  std::FILE* full = std::fopen("/dev/full", "w");
  const std::string text(1 << 20, 'x');
  std::fwrite(text.data(), 1, text.size(), full);
  EXPECT_EQ(finish_stream(full, 0, captured.log), 2);
  std::fclose(full);
}

TEST(Streams, a_reader_that_went_away_is_none) {
  CapturedEnvironment captured;
  signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  std::FILE* stream = fdopen(ends[1], "w");
  const std::string text(1 << 20, 'x');
  std::fwrite(text.data(), 1, text.size(), stream);
  EXPECT_EQ(finish_stream(stream, 1, captured.log), 1);
  EXPECT_EQ(captured.err(), "");
  std::fclose(stream);
}

TEST(Streams, a_log_that_is_lost_is_an_error) {
  CapturedEnvironment captured;
  captured.log.configure({.file = "/dev/full"});
  captured.log.warning("text");
  EXPECT_EQ(finish_log(0, captured.log), 2);
  EXPECT_EQ(captured.err(), "[W] text\n[!] error: writing log file `/dev/full`: no space left on device\n");
  EXPECT_EQ(finish_log(1, captured.log), 1);
}

TEST(Streams, the_status_stays_where_all_is_written) {
  CapturedEnvironment captured;
  EXPECT_EQ(finish_stream(captured.environment.out, 1, captured.log), 1);
}

}  // namespace
}  // namespace assay::cli
