#include "engine/run/device_storage.h"

#include <array>
#include <thread>

#include <gtest/gtest.h>

#include "engine/devices/cpu/device.h"
#include "support/far_device.h"

namespace assay::engine {
namespace {

using testing_support::FarDevice;

constexpr std::array<float, 3> kNumbers = {1, 2, 3};

class OfDeviceStorage : public testing::Test {
 protected:
  static tensor::StoragePtr on_host() {
    const auto bytes = std::as_bytes(std::span(kNumbers));
    return tensor::make_owned({bytes.begin(), bytes.end()});
  }
  DeviceStorage::Place made_on_far() const {
    const Buffer memory = far_.allocate(sizeof kNumbers);
    const std::unique_ptr<Queue> queue = far_.make_queue();
    queue->upload(std::as_bytes(std::span(kNumbers)), memory.first);
    queue->wait();
    return {far_, memory};
  }
  static bool holds_numbers(const tensor::Storage& storage) {
    return std::ranges::equal(storage.bytes(), std::as_bytes(std::span(kNumbers)));
  }

  const std::unique_ptr<Device> host_ = cpu::make_device({});
  const FarDevice far_{*host_};
};

TEST_F(OfDeviceStorage, IsDownloadedOnceWhoeverLooks) {
  const DeviceStorage storage(made_on_far());
  EXPECT_EQ(storage.size_bytes(), sizeof kNumbers);
  EXPECT_EQ(far_.state().downloads, 0);
  std::array<bool, 4> found{};
  {
    std::vector<std::jthread> threads;
    for (bool& one : found) threads.emplace_back([&] { one = holds_numbers(storage); });
  }
  EXPECT_EQ(found, (std::array{true, true, true, true}));
  EXPECT_EQ(far_.state().downloads, 1);
}

TEST_F(OfDeviceStorage, IsUploadedOnceToEachDeviceThatLooks) {
  const FarDevice other(*host_, testing_support::far::Refuses::nothing, "other");
  const DeviceStorage storage(on_host());
  EXPECT_FALSE(storage.find_place().has_value());
  const Buffer memory = storage.on(far_);
  EXPECT_EQ(storage.on(far_).first.value, memory.first.value);
  EXPECT_NE(storage.on(other).first.value, memory.first.value);
  EXPECT_EQ(&storage.find_place()->device, &far_);
  EXPECT_EQ(far_.state().uploads, 1);
  EXPECT_EQ(other.state().uploads, 1);
  EXPECT_TRUE(holds_numbers(DeviceStorage({far_, memory})));
}

TEST_F(OfDeviceStorage, GoesFromDeviceToDevice) {
  const FarDevice other(*host_, testing_support::far::Refuses::nothing, "other");
  const DeviceStorage storage(made_on_far());
  EXPECT_TRUE(holds_numbers(DeviceStorage({other, storage.on(other)})));
  EXPECT_EQ(far_.state().downloads, 1);
}

TEST_F(OfDeviceStorage, NamesTheDeviceThatFails) {
  const DeviceStorage storage(made_on_far());
  far_.state().downloads_left = 0;
  try {
    static_cast<void>(storage.bytes());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.line(), "a value on far: a download failed on purpose");
  }
  EXPECT_TRUE(holds_numbers(storage));
}

TEST_F(OfDeviceStorage, IsFreedWithItsLastHolder) {
  auto storage = std::make_shared<const DeviceStorage>(made_on_far());
  const auto held = storage;
  storage.reset();
  EXPECT_EQ(far_.state().held_bytes, sizeof kNumbers);
  EXPECT_TRUE(holds_numbers(*held));
  const Buffer memory = DeviceStorage(on_host()).on(far_);
  EXPECT_EQ(far_.state().held_bytes, 2 * sizeof kNumbers);
}

TEST_F(OfDeviceStorage, IsLookedAtAnewWhenItIsRenewed) {
  const FarDevice other(*host_, testing_support::far::Refuses::nothing, "other");
  const DeviceStorage storage(made_on_far());
  static_cast<void>(storage.bytes());
  static_cast<void>(storage.on(other));
  storage.renew();
  EXPECT_EQ(other.state().held_bytes, 0);
  EXPECT_TRUE(holds_numbers(storage));
  EXPECT_EQ(far_.state().downloads, 2);
}

// What an operator makes of text stays as it is.
TEST_F(OfDeviceStorage, IsOfBytesOnly) {
  const tensor::Tensor text(tensor::DType::string, {1}, tensor::make_strings({"a"}));
  EXPECT_EQ(shared_with_devices(text).tensor().storage(), text.storage());
  const tensor::Tensor numbers(tensor::DType::float32, {3}, on_host());
  const tensor::Datum shared = shared_with_devices(numbers);
  EXPECT_EQ(shared_with_devices(shared).tensor().storage(), shared.tensor().storage());
  EXPECT_EQ(engine::on_host(shared).tensor().storage(), numbers.storage());
  const tensor::Datum items = engine::on_host(tensor::Datum::sequence({shared, text}));
  EXPECT_EQ(items.items()[0].tensor().storage(), numbers.storage());
}

}  // namespace
}  // namespace assay::engine
