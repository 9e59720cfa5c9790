#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace assay::cases {

// Walks over the text of a .case file token by token. Blanks, and comments from `#` to the end of the line, may stand
// before each token. What is not as expected throws Error (parse) with path and line.
class CaseCursor {
 public:
  CaseCursor(const std::filesystem::path& path, std::string_view text) : path_(path), text_(text) {}

  char peek();  // the first byte of the next token; 0 at the end
  bool at_end() { return peek() == '\0'; }
  bool is_next(std::string_view token);
  bool accept(std::string_view token);
  void expect(std::string_view token);
  // The same, if the word ends there.
  bool accept_word(std::string_view word);
  // Whether the next token is the first one of its line.
  bool at_line_start();

  // A run of letters, digits and `_`; with `extra` bytes too. Error if there is none.
  std::string expect_word(std::string_view what, std::string_view extra = {});
  bool at_word();
  std::string expect_quoted(std::string_view what);  // "…" on one line; \" and \\ and \n stand for themselves
  std::string expect_block();                        // """…"""
  std::string expect_number();                       // as it is written; also inf and nan
  int64_t expect_integer();

  size_t offset();  // of the next token
  size_t end_of_last() const { return at_; }
  int line();  // of the next token
  size_t at() const { return at_; }
  void go_back(size_t at) { at_ = at; }
  std::string_view text() const { return text_; }
  [[noreturn]] void fail_expected(std::string_view what);
  [[noreturn]] void fail_at_line(int line, std::string_view message) const;

 private:
  void skip_blanks();

  std::filesystem::path path_;
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace assay::cases
