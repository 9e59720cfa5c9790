#pragma once

#include <algorithm>

#include "base/files.h"
#include "onnx/wire.h"

namespace assay::onnx {

// Bounds what a walk over a mapped file keeps resident. The kernel maps up to 2 MiB around each touched header, so the
// headers alone would pull a large part of the weights into this process. What lies behind the walk is given back.
class ReadWindow {
 public:
  ReadWindow(const MappedFile& file, const Message& message) : file_(file), begin_(message.offset()), end_(begin_) {}
  ~ReadWindow() {
    if (end_ - begin_ > kWindowBytes / 16) release();
  }
  ReadWindow(const ReadWindow&) = delete;
  ReadWindow& operator=(const ReadWindow&) = delete;

  // The walk has read up to the end of these bytes.
  void pass(Bytes bytes) {
    end_ = static_cast<uint64_t>(bytes.data() + bytes.size() - file_.bytes().data());
    if (end_ - begin_ > kWindowBytes) release();
  }

 private:
  static constexpr uint64_t kWindowBytes = 1 << 20;
  static constexpr uint64_t kFolioBytes = 2 << 20;

  void release() {
    const uint64_t from = begin_ - std::min(begin_, kFolioBytes);  // a touch maps what stands before it too
    file_.release(from, end_ - from);
    begin_ = end_;
  }

  const MappedFile& file_;
  uint64_t begin_;
  uint64_t end_;
};

}  // namespace assay::onnx
