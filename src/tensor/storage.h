#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/function_ref.h"

namespace assay::tensor {

using Bytes = std::span<const std::byte>;

// The elements of a tensor. Nothing is read or decoded before bytes() or strings() is called; both may throw Error (io,
// parse) and may be called from several threads.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual uint64_t size_bytes() const = 0;
  virtual Bytes bytes() const = 0;
  // The elements of a string tensor; only for storages of strings.
  virtual std::span<const std::string> strings() const;
  // Set where every element has the same bit pattern: one element's bytes.
  virtual Bytes fill_pattern() const { return {}; }
  // Gives the bytes in order, in as many pieces as suit the storage; what has to be made for a piece is let go with it.
  virtual void stream(FunctionRef<void(Bytes piece)> sink) const { sink(bytes()); }
  // Releases memory; bytes() recreates it.
  virtual void release() const {}
};

using StoragePtr = std::shared_ptr<const Storage>;

// Bytes that we own.
StoragePtr make_owned(std::vector<std::byte> bytes);
// A range of a mapped file; `file` keeps the mapping alive.
StoragePtr make_mapped(std::shared_ptr<const MappedFile> file, uint64_t offset, uint64_t size);
StoragePtr make_strings(std::vector<std::string> strings);
// Elements that are not there: `reason` is thrown when they are asked for.
StoragePtr make_absent(uint64_t size_bytes, Error reason);
// `count` elements of the same pattern, O(1) in memory until bytes() is asked for.
StoragePtr make_fill(std::vector<std::byte> pattern, uint64_t count);

}  // namespace assay::tensor
