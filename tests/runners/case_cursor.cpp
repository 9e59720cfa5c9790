#include "runners/case_cursor.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"

namespace assay::cases {
namespace {

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

void CaseCursor::skip_blanks() {
  while (at_ < text_.size()) {
    const bool is_comment = text_[at_] == '#';
    if (!is_comment && static_cast<unsigned char>(text_[at_]) > ' ') return;
    at_ = is_comment ? std::min(text_.find('\n', at_), text_.size()) : at_ + 1;
  }
}

char CaseCursor::peek() {
  skip_blanks();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool CaseCursor::is_next(std::string_view token) {
  skip_blanks();
  return text_.substr(at_, token.size()) == token;
}

bool CaseCursor::accept(std::string_view token) {
  if (!is_next(token)) return false;
  at_ += token.size();
  return true;
}

void CaseCursor::expect(std::string_view token) {
  if (!accept(token)) fail_expected(fmt::format("`{}`", token));
}

bool CaseCursor::accept_word(std::string_view word) {
  if (!is_next(word)) return false;
  const size_t end = at_ + word.size();
  if (end < text_.size() && is_letter(text_[end])) return false;
  at_ = end;
  return true;
}

bool CaseCursor::at_line_start() {
  skip_blanks();
  const size_t line_break = text_.substr(0, at_).find_last_of('\n');
  const size_t start = line_break == std::string_view::npos ? 0 : line_break + 1;
  return text_.substr(start, at_ - start).find_first_not_of(" \t\r") == std::string_view::npos;
}

bool CaseCursor::at_word() { return is_letter(peek()); }

std::string CaseCursor::expect_word(std::string_view what, std::string_view extra) {
  skip_blanks();
  size_t end = at_;
  while (end < text_.size() && (is_letter(text_[end]) || extra.find(text_[end]) != std::string_view::npos)) ++end;
  if (end == at_) fail_expected(what);
  const std::string word(text_.substr(at_, end - at_));
  at_ = end;
  return word;
}

std::string CaseCursor::expect_quoted(std::string_view what) {
  if (peek() != '"' || is_next("\"\"\"")) fail_expected(what);
  const int start = line();
  std::string content;
  for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
    if (text_[at_] == '"') {
      ++at_;
      return content;
    }
    const bool escaped = text_[at_] == '\\' && at_ + 1 < text_.size();
    if (escaped) ++at_;
    content += escaped && text_[at_] == 'n' ? '\n' : text_[at_];
  }
  fail_at_line(start, "a text in quotes does not end on its line");
}

std::string CaseCursor::expect_block() {
  const int start = line();
  expect("\"\"\"");
  const size_t end = text_.find("\"\"\"", at_);
  if (end == std::string_view::npos) fail_at_line(start, "a text in triple quotes does not end");
  const std::string content(text_.substr(at_, end - at_));
  at_ = end + 3;
  return content;
}

std::string CaseCursor::expect_number() {
  const size_t start = offset();
  const std::string word = expect_word("a number", "+-.");
  char* end = nullptr;
  std::strtod(word.c_str(), &end);
  if (end == word.c_str() + word.size()) return word;
  at_ = start;
  fail_expected("a number");
}

int64_t CaseCursor::expect_integer() {
  const size_t start = offset();
  const std::string word = expect_word("an integer", "-");
  int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size()) return value;
  at_ = start;
  fail_expected("an integer");
}

size_t CaseCursor::offset() {
  skip_blanks();
  return at_;
}

int CaseCursor::line() {
  skip_blanks();
  const std::string_view before = text_.substr(0, at_);
  return static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
}

void CaseCursor::fail_expected(std::string_view what) {
  if (at_end()) at_ = text_.find_last_not_of(" \t\r\n") + 1;  // the line where something is missing
  const std::string_view before = text_.substr(0, at_);
  const int here = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::string_view rest = text_.substr(at_, text_.find_first_of(" \n", at_) - at_);
  const std::string found = rest.empty() ? "the end" : fmt::format("`{}`", printable(rest.substr(0, 40)));
  fail_at_line(here, fmt::format("expected {}, found {}", what, found));
}

void CaseCursor::fail_at_line(int line, std::string_view message) const {
  fail(ErrorCode::parse, "{}:{}: {}", path_.string(), line, message);
}

}  // namespace assay::cases
