#include <gtest/gtest.h>
#include <sys/mman.h>

#include "base/error.h"
#include "remote/frame.h"
#include "support/remote_values.h"

namespace assay::remote {
namespace {

using testing_support::all_kinds;
using testing_support::same;

// As it would arrive.
ReceivedMessage delivered(const Message& message) {
  ReceivedMessage received = {.kind = message.kind, .body = message.body, .memory = {}};
  if (message.memory_bytes == 0) return received;
  received.memory = map_shared_memory(make_shared_memory(message.memory_bytes, message.placed), message.memory_bytes);
  return received;
}

template <typename Fn>
std::string message_error(Fn&& fn) {
  try {
    fn();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::backend);
    return error.line();
  }
  return "no error";
}

TEST(Message, EveryKindOfValueComesBack) {
  const tensor::NamedData sent = all_kinds();
  const ReceivedMessage message = delivered(MessageWriter(MessageKind::data).data(sent).finish());
  MessageReader reader(message);
  const tensor::NamedData came = reader.data();
  reader.finish();
  ASSERT_EQ(came.size(), sent.size());
  for (size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(came[i].name, sent[i].name);
    EXPECT_TRUE(same(came[i].value, sent[i].value)) << sent[i].name;
  }
}

TEST(Message, TensorsStayInTheMemoryThatCame) {
  const tensor::NamedData sent = all_kinds();
  ReceivedMessage message = delivered(MessageWriter(MessageKind::data).data(sent).finish());
  const std::byte* begin = message.memory.bytes.data();
  const std::byte* end = begin + message.memory.bytes.size();
  const tensor::NamedData came = MessageReader(message).data();
  message = ReceivedMessage();  // the tensors keep the mapping
  const Bytes bytes = came[0].value.tensor().bytes();
  EXPECT_TRUE(begin <= bytes.data() && bytes.data() < end);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % 64, 0u);
  EXPECT_TRUE(same(came[0].value, sent[0].value));
}

TEST(Message, DamageAtEveryByteIsAnError) {
  const ReceivedMessage whole = delivered(MessageWriter(MessageKind::data).data(all_kinds()).finish());
  for (size_t size = 0; size < whole.body.size(); ++size) {
    ReceivedMessage cut = whole;
    cut.body.resize(size);
    EXPECT_NE(message_error([&] { MessageReader(cut).data(); }), "no error") << size;
  }
  for (size_t at = 0; at < whole.body.size(); ++at) {
    ReceivedMessage changed = whole;
    changed.body[at] ^= std::byte{0xff};
    try {
      MessageReader(changed).data();  // another name or bool is no damage
    } catch (const Error& error) {
      EXPECT_FALSE(error.line().empty());
    }
  }
}

TEST(Message, CutMemoryIsAnError) {
  const ReceivedMessage whole = delivered(MessageWriter(MessageKind::data).data(all_kinds()).finish());
  for (size_t size = 0; size < whole.memory.bytes.size(); size += 7) {
    ReceivedMessage cut = whole;
    cut.memory.bytes = cut.memory.bytes.first(size);
    EXPECT_NE(message_error([&] { MessageReader(cut).data(); }), "no error") << size;
  }
}

TEST(Message, DeepNestingIsAnError) {
  MessageWriter writer(MessageKind::value);
  for (int depth = 0; depth < 200; ++depth) writer.number(2).number(1);
  const ReceivedMessage message = delivered(writer.number(0).finish());
  EXPECT_EQ(message_error([&] { MessageReader(message).datum(); }),
            "a message of another process is damaged: sequences are nested too deep");
}

TEST(Message, UnsortedMapIsAnError) {
  const std::vector<int64_t> keys = {2, 1};
  const tensor::Tensor column = tensor::make_tensor<int64_t>(tensor::DType::int64, {2}, keys);
  const ReceivedMessage message =
      delivered(MessageWriter(MessageKind::value).datum(tensor::Datum::map(column, column)).finish());
  EXPECT_EQ(message_error([&] { MessageReader(message).datum(); }),
            "a message of another process is damaged: a map is out of order");
}

TEST(SharedMemory, ThatMayChangeIsRefused) {
  const Descriptor open(memfd_create("test", 0));
  ASSERT_EQ(ftruncate(open.number(), 100), 0);
  EXPECT_EQ(message_error([&] { map_shared_memory(open, 100); }),
            "another process sent memory that may change under us");
  const Placed piece = {0, tensor::make_owned(std::vector<std::byte>(64))};
  const Descriptor sealed = make_shared_memory(64, std::span(&piece, 1));
  EXPECT_EQ(message_error([&] { map_shared_memory(sealed, 65); }),
            "another process sent 64 bytes of memory and promised 65");
}

TEST(Frame, RoundTrip) {
  const Frame frame = parse_frame(encode_frame({MessageKind::run, 12, 34}));
  EXPECT_EQ(frame.kind, MessageKind::run);
  EXPECT_EQ(frame.body_bytes, 12u);
  EXPECT_EQ(frame.memory_bytes, 34u);
}

TEST(Frame, DamageIsAnError) {
  const std::array<std::byte, kFrameBytes> good = encode_frame({MessageKind::run, 12, 34});
  for (size_t size = 0; size < kFrameBytes; ++size) {
    EXPECT_EQ(message_error([&] { parse_frame(Bytes(good).first(size)); }), "a message of another process was cut off");
  }
  std::array<std::byte, kFrameBytes> bad = good;
  bad[0] ^= std::byte{1};
  EXPECT_EQ(message_error([&] { parse_frame(bad); }), "another process sent something that is no message");
  bad = good;
  bad[4] = std::byte{9};
  EXPECT_EQ(message_error([&] { parse_frame(bad); }), "another process speaks version 9 of the protocol, expected 1");
  bad = good;
  bad[6] = std::byte{kMessageKinds};
  EXPECT_EQ(message_error([&] { parse_frame(bad); }), "another process sent something that is no message");
  for (const size_t high : {15, 23}) {
    bad = good;
    bad[high] = std::byte{0x40};
    EXPECT_NE(message_error([&] { parse_frame(bad); }), "no error");
  }
}

}  // namespace
}  // namespace assay::remote
