#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/ids.h"

namespace assay::onnx {

inline constexpr int kMaxTextDepth = 100;  // of bodies in bodies, types in types

// A number of the text: digits with an optional sign, point and exponent, or one of the words inf, infinity and nan.
struct Number {
  std::string_view text;
  size_t offset = 0;
  bool is_integer = false;
};

// A cursor over ONNX text. Blanks, and comments from `#` to the end of the line, may stand before each token. What is
// not as expected throws Error (parse) with line and column.
class TextLexer {
 public:
  explicit TextLexer(std::string_view text) : text_(text) {}

  // The first byte of the next token; 0 at the end.
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool at_end();
  size_t offset();  // of the next token
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool is_next(std::string_view words);
  void expect(char c);
  void expect_arrow();  // `=>`
  // True if `c` follows the identifier that comes next.
  bool is_before(char c);

  std::string_view peek_identifier();  // empty where none comes next
  std::string_view identifier();       // goes behind it, too
  std::string_view expect_identifier(std::string_view what);
  // An identifier or a quoted text. What these two return holds until the next call of either.
  std::string_view expect_name(std::string_view what);
  std::string_view expect_quoted(std::string_view what);
  bool at_name();

  bool at_number();
  Number expect_number(std::string_view what);
  int64_t expect_integer(int64_t low = INT64_MIN, int64_t high = INT64_MAX);
  uint64_t expect_unsigned(uint64_t high = UINT64_MAX);
  int64_t to_integer(const Number& number) const;
  // The nearest number of the type; Error if it is too large for a finite one.
  float to_float(const Number& number) const;
  double to_double(const Number& number) const;

  size_t bytes_left() const { return text_.size() - at_; }
  [[noreturn]] void fail_expected(std::string_view what);
  [[noreturn]] void fail_at(size_t offset, std::string_view message) const;

  // Counts how deep what is being parsed is nested; Error beyond the limit.
  class Level {
   public:
    explicit Level(TextLexer& lexer) : lexer_(lexer) { lexer.enter(); }
    ~Level() { --lexer_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    TextLexer& lexer_;
  };

 private:
  void skip_blanks() {
    if (at_ < text_.size() && (text_[at_] <= ' ' || text_[at_] == '#')) skip_blanks_slowly();
  }
  void skip_blanks_slowly();
  size_t word_end(size_t from) const;
  size_t identifier_end() const;
  size_t digits_end(size_t from) const;
  size_t number_end() const;
  std::string unescape(size_t from, size_t to) const;
  std::string found() const;
  void enter();
  template <typename T>
  T to_real(const Number& number) const;
  template <typename T>
  T to_integral(const Number& number, T low, T high) const;

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string unescaped_;
};

// True if the text is `inf`, `infinity` or `nan` in any case.
bool is_float_word(std::string_view text);
bool is_identifier(std::string_view text);

}  // namespace assay::onnx
