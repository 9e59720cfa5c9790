#pragma once

#include <string>

#include "base/temporary_folder.h"

namespace assay::cli {

// A browser on an address with a secret in it: it is started on a file of this user that leads there, because words of
// processes can be seen by others.
class Browser {
 public:
  // False if there is no display, or nothing to start.
  bool open(const std::string& address);

 private:
  TemporaryFolder folder_;
};

}  // namespace assay::cli
