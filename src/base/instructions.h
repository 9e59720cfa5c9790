#pragma once

namespace assay {

// True if the processor converts from and to float16. Clang's __builtin_cpu_supports does not know the name.
bool has_f16c();

}  // namespace assay
