#pragma once

#include <string>

namespace assay {

// The meaning of an errno, in lower case: `no such file or directory`.
std::string errno_text(int error);

}  // namespace assay
