#pragma once

#include <string>

namespace assay {

// What an errno means, in lower case: `no such file or directory`.
std::string errno_text(int error);

}  // namespace assay
