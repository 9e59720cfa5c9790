#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "remote/descriptor.h"

namespace assay::tasks {

// Lines of text over a socket or pipes, as workers of a sweep get and give them.
class LineChannel {
 public:
  // `in` and `out` may be one socket's.
  LineChannel(remote::Descriptor in, remote::Descriptor out) : in_(std::move(in)), out_(std::move(out)) {}

  // False: the other side is gone.
  bool send(std::string_view line);
  // Waits for something to read, and takes the lines that are whole. False: the other side is gone.
  bool receive(std::vector<std::string>& lines);
  int number() const { return in_.number(); }

 private:
  remote::Descriptor in_;
  remote::Descriptor out_;  // closed: that of reading serves both
  std::string rest_;
};

}  // namespace assay::tasks
