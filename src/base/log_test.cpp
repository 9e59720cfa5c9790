#include "base/log.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"

namespace assay {
namespace {

// Two streams in memory and a log that writes to them.
class LogTest : public testing::Test {
 protected:
  ~LogTest() override {
    std::fclose(out_stream_);
    std::fclose(err_stream_);
    std::free(out_text_);
    std::free(err_text_);
  }

  std::string out() { return taken(out_stream_, out_text_, out_size_); }
  std::string err() { return taken(err_stream_, err_text_, err_size_); }

 private:
  static std::string taken(std::FILE* stream, char*& text, size_t& size) {
    std::fflush(stream);
    return {text, size};
  }

  char* out_text_ = nullptr;
  char* err_text_ = nullptr;
  size_t out_size_ = 0;
  size_t err_size_ = 0;
  std::FILE* out_stream_ = open_memstream(&out_text_, &out_size_);
  std::FILE* err_stream_ = open_memstream(&err_text_, &err_size_);

 protected:
  Log log{out_stream_, err_stream_};
};

TEST_F(LogTest, results_go_to_standard_output_and_the_rest_to_standard_error) {
  log.configure({.level = LogLevel::ultra_verbose});
  log.info("a");
  log.start("b");
  log.finish("c");
  log.verbose("d");
  log.warning("e");
  log.error("f");
  log.critical("g");
  log.write(LogLevel::extra_verbose, "h");
  log.write(LogLevel::super_verbose, "i");
  log.write(LogLevel::ultra_verbose, "j");
  EXPECT_EQ(out(), "[I] a\n[I] b\n[I] c\n");
  EXPECT_EQ(err(), "[V] d\n[W] e\n[E] f\n[!] g\n[X] h\n[S] i\n[U] j\n");
}

TEST_F(LogTest, all_text_goes_to_standard_error_on_request) {
  log.configure({.text_to_stderr = true});
  log.info("a");
  log.warning("b");
  EXPECT_EQ(out(), "");
  EXPECT_EQ(err(), "[I] a\n[W] b\n");
}

TEST_F(LogTest, warnings_and_errors_go_to_standard_output_on_request) {
  log.configure({.all_to_stdout = true});
  log.info("a");
  log.warning("b");
  log.error("c");
  log.critical("d");
  EXPECT_EQ(out(), "[I] a\n[W] b\n[E] c\n");
  EXPECT_EQ(err(), "[!] d\n");
}

TEST_F(LogTest, levels_below_the_chosen_one_are_dropped) {
  log.configure({.level = LogLevel::finish});
  log.info("no");
  log.start("no");
  log.finish("yes");
  EXPECT_FALSE(log.enabled(LogLevel::start));
  EXPECT_TRUE(log.enabled(LogLevel::finish));
  EXPECT_EQ(out(), "[I] yes\n");
}

TEST_F(LogTest, continuation_lines_stand_below_the_text) {
  log.info("one\ntwo\n\nfour");
  const Log::Indent first(log);
  const Log::Indent second(log);
  log.info("five\nsix");
  EXPECT_EQ(out(), "[I] one\n    two\n    \n    four\n[I]         five\n            six\n");
}

TEST_F(LogTest, indent_ends_with_its_scope) {
  {
    const Log::Indent indent(log);
    log.info("in");
  }
  log.info("out");
  EXPECT_EQ(out(), "[I]     in\n[I] out\n");
}

TEST_F(LogTest, an_empty_message_is_a_prefix_alone) {
  log.info("");
  EXPECT_EQ(out(), "[I] \n");
}

TEST_F(LogTest, time_and_place_are_in_the_prefix_and_its_length) {
  log.configure({.timestamps = true, .line_info = true});
  log.info("a\nb");
  const std::string text = out();
  const std::regex shape(R"(\[I\] \(\d\d:\d\d:\d\d\) \[log_test\.cpp:\d+\] a\n +b\n)");
  EXPECT_TRUE(std::regex_match(text, shape)) << text;
  EXPECT_EQ(text.find('a'), text.find('b') - text.find('\n') - 1);
}

TEST_F(LogTest, the_longest_path_decides_the_level) {
  const auto enabled_with = [&](std::vector<std::pair<std::string, LogLevel>> levels) {
    log.configure({.levels_by_path = std::move(levels)});
    return log.enabled(LogLevel::verbose);
  };
  EXPECT_TRUE(enabled_with({{"base", LogLevel::verbose}}));
  EXPECT_TRUE(enabled_with({{"base/", LogLevel::verbose}}));
  EXPECT_TRUE(enabled_with({{"base/log_test.cpp", LogLevel::verbose}}));
  EXPECT_FALSE(enabled_with({{"bas", LogLevel::verbose}}));
  EXPECT_FALSE(enabled_with({{"onnx", LogLevel::verbose}}));
  EXPECT_FALSE(enabled_with({{"base/log_test.cpp", LogLevel::error}, {"base", LogLevel::verbose}}));
  EXPECT_TRUE(enabled_with({{"base", LogLevel::error}, {"base/log_test.cpp", LogLevel::verbose}}));
}

TEST_F(LogTest, no_colours_where_there_is_no_terminal) {
  log.configure({.colors = true});
  log.critical("a");
  EXPECT_EQ(err(), "[!] a\n");
}

TEST(Log, colours_on_a_terminal) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) GTEST_SKIP() << "no pseudo-terminals here";
  std::FILE* stream = std::fopen(ptsname(terminal), "r+");
  ASSERT_NE(stream, nullptr);
  Log log(stream, stream);
  log.configure({.colors = true});
  log.critical("a");
  log.configure({.colors = false});
  log.critical("b");
  std::fflush(stream);
  std::string text;
  char piece[100];
  while (!text.ends_with("b\r\n")) {  // a terminal may hand over less than what was written
    const ssize_t size = read(terminal, piece, sizeof(piece));
    ASSERT_GT(size, 0);
    text.append(piece, static_cast<size_t>(size));
  }
  EXPECT_EQ(text, "\x1b[91m[!] a\x1b[0m\r\n[!] b\r\n");
  std::fclose(stream);
  close(terminal);
}

TEST_F(LogTest, the_file_gets_what_is_printed_and_its_folder_is_made) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "assay_log_test";
  std::filesystem::remove_all(folder);
  const std::filesystem::path path = folder / "deep" / "run.log";
  {
    Log other(stdout, stdout);
    other.configure({.level = LogLevel::critical, .file = path});
    other.critical("a\nb");
    other.info("not printed");
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "[!] a\n    b\n");
  std::filesystem::remove_all(folder);
}

TEST_F(LogTest, a_log_file_that_cannot_be_opened_is_an_error) {
  EXPECT_THROW(log.configure({.file = "/proc/no/such/file"}), Error);
}

}  // namespace
}  // namespace assay
