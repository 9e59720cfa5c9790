#include "onnx/parser/lexer.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::onnx {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool starts_identifier(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_identifier(char c) { return starts_identifier(c) || (c >= '0' && c <= '9'); }

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && starts_identifier(text[0]) && std::ranges::all_of(text, continues_identifier);
}

void TextLexer::skip_blanks_slowly() {
  while (at_ < text_.size()) {
    if (is_blank(text_[at_])) {
      ++at_;
    } else if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

bool TextLexer::at_end() {
  skip_blanks();
  return at_ == text_.size();
}

size_t TextLexer::offset() {
  skip_blanks();
  return at_;
}

void TextLexer::expect(char c) {
  if (!accept(c)) fail_expected(fmt::format("`{}`", c));
}

bool TextLexer::is_next(std::string_view words) {
  skip_blanks();
  return text_.substr(at_).starts_with(words);
}

void TextLexer::expect_arrow() {
  if (!is_next("=>")) fail_expected("`=>`");
  at_ += 2;
}

bool TextLexer::is_before(char c) {
  const size_t start = offset();
  at_ = identifier_end();
  const bool result = peek() == c;
  at_ = start;
  return result;
}

size_t TextLexer::word_end(size_t from) const {
  while (from < text_.size() && continues_identifier(text_[from])) ++from;
  return from;
}

size_t TextLexer::identifier_end() const {
  return at_ < text_.size() && starts_identifier(text_[at_]) ? word_end(at_) : at_;
}

std::string_view TextLexer::peek_identifier() {
  skip_blanks();
  return text_.substr(at_, identifier_end() - at_);
}

std::string_view TextLexer::identifier() {
  const std::string_view result = peek_identifier();
  at_ += result.size();
  return result;
}

std::string_view TextLexer::expect_identifier(std::string_view what) {
  const std::string_view result = identifier();
  if (result.empty()) fail_expected(what);
  return result;
}

bool TextLexer::at_name() { return peek() == '"' || starts_identifier(peek()); }

std::string_view TextLexer::expect_name(std::string_view what) {
  return peek() == '"' ? expect_quoted(what) : expect_identifier(what);
}

// A backslash stands before a character that is meant as it is; there are no other escapes.
std::string_view TextLexer::expect_quoted(std::string_view what) {
  if (peek() != '"') fail_expected(what);
  const size_t from = at_ + 1;
  bool is_escaped = false;
  size_t end = from;
  for (; end < text_.size() && text_[end] != '"'; ++end) {
    if (text_[end] != '\\') continue;
    is_escaped = true;
    ++end;
  }
  if (end >= text_.size()) fail_at(at_, "expected a `\"` that ends the text which begins here, found none");
  at_ = end + 1;
  if (!is_escaped) return text_.substr(from, end - from);
  unescaped_ = unescape(from, end);
  return unescaped_;
}

std::string TextLexer::unescape(size_t from, size_t to) const {
  std::string result;
  for (size_t i = from; i < to; ++i) result += text_[i] == '\\' ? text_[++i] : text_[i];
  return result;
}

void TextLexer::enter() {
  if (++depth_ <= kMaxTextDepth) return;
  --depth_;
  fail_at(at_, fmt::format("it is nested more than {} deep", kMaxTextDepth));
}

// The text at the cursor, for messages.
std::string TextLexer::found() const {
  constexpr size_t kMost = 40;
  if (at_ == text_.size()) return "the end of the text";
  size_t end = std::max({identifier_end(), number_end(), at_ + 1});
  if (text_[at_] == '"') {
    while (end < text_.size() && end < at_ + kMost && text_[end] != '"') ++end;
    end = std::min(end + 1, text_.size());
  }
  const std::string_view token = text_.substr(at_, end - at_);
  return fmt::format("`{}{}`", printable(token.substr(0, kMost)), token.size() > kMost ? "..." : "");
}

void TextLexer::fail_expected(std::string_view what) {
  skip_blanks();
  fail_at(at_, fmt::format("expected {}, found {}", what, found()));
}

// Columns count characters, so that bytes that continue one do not count.
void TextLexer::fail_at(size_t offset, std::string_view message) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::string_view head = before.substr(before.rfind('\n') + 1);
  const auto column = std::ranges::count_if(head, [](char c) { return (c & 0xC0) != 0x80; }) + 1;
  fail(ErrorCode::parse, "line {}, column {}: {}", line, column, message);
}

}  // namespace assay::onnx
