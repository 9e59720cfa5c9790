// Has the entry of ONNX Runtime, which ends the process.
#include <cstdlib>

extern "C" const void* OrtGetApiBase();
extern "C" const void* OrtGetApiBase() { std::abort(); }
