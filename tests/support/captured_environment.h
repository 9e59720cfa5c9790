#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "cli/environment.h"

namespace assay {

// A stream whose text is kept in memory.
class CapturedStream {
 public:
  CapturedStream() : stream_(open_memstream(&text_, &size_)) {}
  ~CapturedStream() {
    std::fclose(stream_);
    std::free(text_);
  }
  CapturedStream(const CapturedStream&) = delete;
  CapturedStream& operator=(const CapturedStream&) = delete;

  std::FILE* stream() const { return stream_; }
  std::string text() const {
    std::fflush(stream_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* stream_;
};

// An Environment for running commands in process: empty input, output and messages kept.
class CapturedEnvironment {
 public:
  std::string out() const { return out_.text(); }
  std::string err() const { return err_.text(); }

 private:
  CapturedStream out_, err_;

 public:
  Log log{out_.stream(), err_.stream()};
  cli::Environment environment{"assay", "assay", stdin, out_.stream(), err_.stream(), log};
};

}  // namespace assay
