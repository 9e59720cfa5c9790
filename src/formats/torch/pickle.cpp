#include "formats/torch/pickle.h"

#include <cstring>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::formats {
namespace {

using Kind = PickleValue::Kind;

constexpr size_t kMostBytes = 4096;  // a tensor takes some hundreds; what nests deeper is no tensor

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  PicklePtr run() {
    for (;;) {
      const auto code = static_cast<unsigned char>(take(1)[0]);
      if (code == '.') return pop();
      if (!read_atom(code) && !read_structure(code) && !read_memo(code)) {
        fail(ErrorCode::parse, "pickle: the code {:#04x} is not one of a tensor", code);
      }
    }
  }

 private:
  std::string_view take(size_t count) {
    if (count > bytes_.size() - at_) fail(ErrorCode::parse, "pickle: it ends early");
    const std::string_view piece = bytes_.substr(at_, count);
    at_ += count;
    return piece;
  }

  template <typename T>
  T number() {
    T value = 0;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  std::string line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) fail(ErrorCode::parse, "pickle: it ends early");
    std::string text(take(end - at_));
    take(1);
    return text;
  }

  void push(PickleValue value) { stack_.push_back(std::make_shared<const PickleValue>(std::move(value))); }
  void push_integer(int64_t value) { push({.kind = Kind::integer, .number = value, .text = {}, .items = {}}); }

  PicklePtr pop() {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) fail(ErrorCode::parse, "pickle: it takes more than it has");
    PicklePtr value = std::move(stack_.back());
    stack_.pop_back();
    return value;
  }

  // The integer of LONG1.
  int64_t long_number() {
    const auto size = number<uint8_t>();
    if (size > sizeof(int64_t)) fail(ErrorCode::parse, "pickle: an integer of {} bytes", size);
    const std::string_view bytes = take(size);
    const bool is_negative = size > 0 && static_cast<signed char>(bytes.back()) < 0;
    int64_t value = is_negative ? -1 : 0;
    std::memcpy(&value, bytes.data(), size);
    return value;
  }

  bool read_atom(unsigned char code) {
    if (code == 0x80) {
      take(1);  // the protocol
    } else if (code == 'N') {
      push({.kind = Kind::none, .text = {}, .items = {}});
    } else if (code == 0x88 || code == 0x89) {
      push({.kind = Kind::boolean, .number = code == 0x88, .text = {}, .items = {}});
    } else if (code == 'K') {
      push_integer(number<uint8_t>());
    } else if (code == 'M') {
      push_integer(number<uint16_t>());
    } else if (code == 'J') {
      push_integer(number<int32_t>());
    } else if (code == 0x8a) {
      push_integer(long_number());
    } else if (code == 'X') {
      push({.kind = Kind::text, .text = std::string(take(number<uint32_t>())), .items = {}});
    } else if (code == 'c') {
      const std::string module = line();
      push({.kind = Kind::global, .text = module + " " + line(), .items = {}});
    } else {
      return false;
    }
    return true;
  }

  void push_tuple(size_t first) {
    PickleValue tuple{.kind = Kind::tuple, .text = {}, .items = {}};
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(first);
    tuple.items.assign(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    push(std::move(tuple));
  }

  void push_last(size_t count) {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() < floor + count) fail(ErrorCode::parse, "pickle: it takes more than it has");
    push_tuple(stack_.size() - count);
  }

  bool read_structure(unsigned char code) {
    if (code == '(') {
      marks_.push_back(stack_.size());
    } else if (code == 't') {
      if (marks_.empty()) fail(ErrorCode::parse, "pickle: a tuple without a begin");
      const size_t first = marks_.back();
      marks_.pop_back();
      push_tuple(first);
    } else if (code == ')' || (code >= 0x85 && code <= 0x87)) {
      push_last(code == ')' ? 0 : code - size_t{0x84});
    } else if (code == 'Q') {
      push({.kind = Kind::persistent, .text = {}, .items = {pop()}});
    } else if (code == 'R') {
      PicklePtr arguments = pop();
      PickleValue call{.kind = Kind::call, .text = {}, .items = {pop()}};
      call.items.insert(call.items.end(), arguments->items.begin(), arguments->items.end());
      push(std::move(call));
    } else {
      return false;
    }
    return true;
  }

  bool read_memo(unsigned char code) {
    if (code == 'q' || code == 'r') {
      const uint32_t place = code == 'q' ? number<uint8_t>() : number<uint32_t>();
      memo_[place] = pop();
      stack_.push_back(memo_[place]);
    } else if (code == 'h' || code == 'j') {
      const auto found = memo_.find(code == 'h' ? number<uint8_t>() : number<uint32_t>());
      if (found == memo_.end()) fail(ErrorCode::parse, "pickle: it takes more than it has");
      stack_.push_back(found->second);
    } else {
      return false;
    }
    return true;
  }

  std::string_view bytes_;
  size_t at_ = 0;
  std::vector<PicklePtr> stack_;
  std::vector<size_t> marks_;
  std::map<uint32_t, PicklePtr> memo_;
};

}  // namespace

PicklePtr read_pickle(std::string_view bytes) {
  if (bytes.size() > kMostBytes) fail(ErrorCode::parse, "pickle: {} bytes, too many for a tensor", bytes.size());
  return Reader(bytes).run();
}

}  // namespace assay::formats
