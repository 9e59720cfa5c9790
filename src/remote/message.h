#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "remote/shared_memory.h"
#include "tensor/named.h"

namespace assay::remote {

// Requests and answers. python/assay/host.py has the same numbers.
enum class MessageKind : uint16_t {
  failed,  // code, line, text to show before it
  done,
  end,  // of the iterations
  probe,
  prepare,
  run,
  load_data,
  next_data,
  postprocess,
  compare,
  probed,
  prepared,
  value,
  data,
  verdicts,
  match_subgraphs,
  matched,
  replace_subgraphs,
  replaced,
  make_execution,
  ran,
  list,
  listed,
  refuse,
  refused,
  score,
  scored,
};
inline constexpr uint16_t kMessageKinds = 27;

// A message to send: the body holds numbers (8 bytes each, little-endian) and text (its length, then its bytes); the
// elements of its tensors are `placed` in one shared memory.
struct Message {
  MessageKind kind;
  std::vector<std::byte> body;
  std::vector<Placed> placed;
  uint64_t memory_bytes = 0;
};

// A received message. Values read from it keep its memory alive.
struct ReceivedMessage {
  MessageKind kind = MessageKind::failed;
  std::vector<std::byte> body;
  SharedBytes memory;
};

class MessageWriter {
 public:
  explicit MessageWriter(MessageKind kind) : message_{.kind = kind, .body = {}, .placed = {}} {}

  MessageWriter& number(uint64_t value);
  MessageWriter& real(double value);
  MessageWriter& text(std::string_view value);
  MessageWriter& texts(std::span<const std::string> values);
  MessageWriter& datum(const tensor::Datum& value);
  MessageWriter& data(std::span<const tensor::NamedDatum> values);
  Message finish() { return std::move(message_); }

 private:
  void tensor(const tensor::Tensor& value);
  Message message_;
};

// Reads the parts of a message in the order in which they were written. Error (backend) if it is damaged.
class MessageReader {
 public:
  explicit MessageReader(const ReceivedMessage& message) : rest_(message.body), memory_(message.memory) {}

  uint64_t number();
  double real();
  std::string text();
  std::vector<std::string> texts();
  tensor::Datum datum() { return datum_within(0); }
  tensor::NamedData data();
  // Nothing may be left.
  void finish() const;

 private:
  // A number of things that take at least `each` bytes of the rest.
  uint64_t count_of(uint64_t each);
  tensor::Datum datum_within(int depth);
  tensor::Tensor tensor();
  tensor::Datum map();
  tensor::StoragePtr strings(const tensor::StoragePtr& storage, uint64_t count) const;

  Bytes rest_;
  const SharedBytes& memory_;
};

}  // namespace assay::remote
