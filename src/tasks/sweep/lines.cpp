#include "tasks/sweep/lines.h"

#include <array>
#include <cerrno>

#include <unistd.h>

namespace assay::tasks {

bool LineChannel::send(std::string_view line) {
  std::string text(line);
  text += '\n';
  const int target = out_.is_open() ? out_.number() : in_.number();
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(target, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += static_cast<size_t>(written);
  }
  return true;
}

bool LineChannel::receive(std::vector<std::string>& lines) {
  std::array<char, 65536> buffer;
  ssize_t size = 0;
  do {
    size = read(in_.number(), buffer.data(), buffer.size());
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return false;
  rest_.append(buffer.data(), static_cast<size_t>(size));
  size_t begin = 0;
  for (size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
    lines.push_back(rest_.substr(begin, end - begin));
    begin = end + 1;
  }
  rest_.erase(0, begin);
  return true;
}

}  // namespace assay::tasks
