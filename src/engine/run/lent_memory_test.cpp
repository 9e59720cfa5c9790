// Inputs and outputs that lie on a device.
#include <gtest/gtest.h>

#include "engine/run/device_storage.h"
#include "support/on_far.h"

namespace assay::engine {
namespace {

using testing_support::difference;
using testing_support::OnFar;

constexpr const char* kSum =
    "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,3] x, float[2,3] w) => (float[2,3] y) { a = Exp(x) "
    "y = Add(a, w) }";

// Memory of the caller on the far device.
class Lent {
 public:
  Lent(OnFar& on_far, size_t count, uint64_t offset = 0)
      : whole_(on_far.far().allocate(count * sizeof(float) + offset)),
        numbers_(reinterpret_cast<float*>(host_bytes(testing_support::far::near_from(whole_.first + offset)))),
        count_(count),
        storage_(std::make_shared<DeviceStorage>(
            DeviceStorage::Place{on_far.far(), {whole_.first + offset, count * sizeof(float)}})) {
    std::fill_n(numbers_, count, -1.0F);
  }

  void fill(const tensor::Tensor& tensor) {
    const std::vector<double> numbers = tensor::load_elements<double>(tensor);
    for (size_t i = 0; i < count_; ++i) numbers_[i] = static_cast<float>(numbers[i]);
  }
  std::vector<double> numbers() const { return {numbers_, numbers_ + count_}; }
  const std::shared_ptr<DeviceStorage>& storage() const { return storage_; }

 private:
  Buffer whole_;
  float* numbers_;
  size_t count_;
  std::shared_ptr<DeviceStorage> storage_;
};

// A run that reads inputs from `inputs` and writes the output to `output`, all of one shape.
class LentRun {
 public:
  LentRun(OnFar& on_far, Context& context) : on_far_(on_far), context_(context) {}

  void run(const std::vector<Lent*>& inputs, const Lent& output, const std::function<double(size_t)>& number) {
    std::vector<ops::InputDatum> given = testing_support::drawn_inputs(on_far_.model(), number);
    tensor::Shape shape;
    for (size_t i = 0; i < given.size(); ++i) {
      shape = given[i].datum.tensor().shape();
      if (inputs[i] == nullptr) continue;
      inputs[i]->fill(given[i].datum.tensor());
      given[i].datum = tensor::Tensor(tensor::DType::float32, shape, inputs[i]->storage());
    }
    const std::vector<ir::ValueId> wanted = testing_support::outputs_of(on_far_.model());
    tensor::StoragePtr seen;
    context_.run(given, wanted, [&](ir::ValueId, const tensor::Datum& datum) { seen = datum.tensor().storage(); },
                 {{wanted[0], OutputPlace{tensor::DType::float32, shape, {}, output.storage()}}});
    EXPECT_EQ(seen, output.storage());
  }
  std::string difference_of(const Lent& output, const std::function<double(size_t)>& number) {
    return difference({output.numbers()}, on_far_.expected(number), 1e-6);
  }

 private:
  OnFar& on_far_;
  Context& context_;
};

double other(size_t i) { return std::cos(static_cast<double>(i)); }

TEST(LentMemory, IsReadAndWrittenWhereItLies) {
  OnFar on_far(kSum);
  Context context(on_far.program(), {}, false);
  LentRun lent(on_far, context);
  Lent x(on_far, 6), w(on_far, 6), y(on_far, 6), z(on_far, 6);
  lent.run({&x, &w}, y, testing_support::sine);
  EXPECT_EQ(lent.difference_of(y, testing_support::sine), "");
  lent.run({&w, &x}, z, other);
  EXPECT_EQ(lent.difference_of(z, other), "");
  EXPECT_EQ(lent.difference_of(y, testing_support::sine), "");
  const auto& state = on_far.far().state();
  EXPECT_EQ(state.uploads + state.downloads + state.copies, 0);
  // Memory of the host again, or only of one input.
  EXPECT_EQ(difference(on_far.run(context, other), on_far.expected(other), 1e-6), "");
  EXPECT_EQ(state.uploads, 2);
  EXPECT_EQ(state.downloads, 1);
  lent.run({nullptr, &w}, y, other);
  EXPECT_EQ(lent.difference_of(y, other), "");
  EXPECT_EQ(state.uploads, 3);
}

TEST(LentMemory, IsCopiedWhereItCannotTakeThePlaceOfOurs) {
  OnFar on_far(kSum);
  Context context(on_far.program(), {}, false);
  LentRun lent(on_far, context);
  constexpr uint64_t kOdd = 4;
  Lent x(on_far, 6, kOdd), w(on_far, 6), y(on_far, 6, kOdd);
  lent.run({&x, &w}, y, testing_support::sine);
  EXPECT_EQ(lent.difference_of(y, testing_support::sine), "");
  const auto& state = on_far.far().state();
  EXPECT_EQ(state.copies, 2);
  lent.run({&x, &w}, w, other);  // over an input
  EXPECT_EQ(lent.difference_of(w, other), "");
  EXPECT_EQ(state.copies, 4);
  EXPECT_EQ(state.uploads + state.downloads, 0);
}

TEST(LentMemory, OfAnInputIsReadThroughAView) {
  OnFar on_far(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,3] x) => (float[2,3] y) <int64[2] s = {3,2}, float[3,3] w "
      "= "
      "{1,2,3,4,5,6,7,8,9}> { r = Reshape(x, s) t = Transpose<perm = [1,0]>(r) y = MatMul(t, w) }");
  Context context(on_far.program(), {}, false);
  LentRun lent(on_far, context);
  Lent x(on_far, 6), y(on_far, 6);
  for (const auto& number : {testing_support::sine, other}) {
    lent.run({&x}, y, number);
    EXPECT_EQ(lent.difference_of(y, number), "");
  }
  EXPECT_EQ(on_far.far().state().uploads, 1);  // of the constant
  EXPECT_EQ(on_far.far().state().downloads, 0);
}

// Hardmax runs on the reference, and the first output is an input.
TEST(LentMemory, OfAnInputIsSeenByStepsOfTheHost) {
  OnFar on_far(
      "<ir_version: 8, opset_import: [\"\" : 17]> g (float[2,3] x) => (float[2,3] y) { a = Hardmax(x) y = Add(a, x) }");
  Context context(on_far.program(), {}, false);
  LentRun lent(on_far, context);
  Lent x(on_far, 6), y(on_far, 6);
  for (const auto& number : {testing_support::sine, other}) {
    lent.run({&x}, y, number);
    EXPECT_EQ(lent.difference_of(y, number), "");
  }
}

TEST(LentMemory, WorkOnAStreamOfTheCallerIsNotWaitedForWhereTheHostHasNoPartInIt) {
  OnFar on_far(kSum);
  Context context(on_far.program(), {}, false);
  LentRun lent(on_far, context);
  Lent x(on_far, 6), w(on_far, 6), y(on_far, 6);
  constexpr uint64_t kStream = 7;
  context.follow(kStream);
  EXPECT_EQ(on_far.far().state().followed, kStream);
  lent.run({&x, &w}, y, testing_support::sine);
  EXPECT_EQ(on_far.far().state().submits, 1);
  EXPECT_EQ(y.numbers(), std::vector<double>(6, -1));  // the far device works when it is waited for
  context.follow(std::nullopt);
  lent.run({&x, &w}, y, testing_support::sine);
  EXPECT_EQ(lent.difference_of(y, testing_support::sine), "");
  context.follow(kStream);
  EXPECT_EQ(difference(on_far.run(context, other), on_far.expected(other), 1e-6), "");
}

// Kernels that the failed run has not reached still have the addresses of the run before it.
TEST(LentMemory, OfARunThatFailedIsBoundInTheNextOne) {
  OnFar on_far(kSum);
  Context context(on_far.program(), {}, false);
  LentRun lent(on_far, context);
  Lent x(on_far, 6), w(on_far, 6), y(on_far, 6), other_x(on_far, 6), other_w(on_far, 6);
  lent.run({&x, &w}, y, testing_support::sine);
  std::vector<ops::InputDatum> given = testing_support::drawn_inputs(on_far.model(), testing_support::sine);
  given[0].datum = tensor::Tensor(tensor::DType::float32, {2, 3}, other_x.storage());
  given[1].datum = tensor::Tensor(tensor::DType::float32, {3, 2}, other_w.storage());
  const std::vector<ir::ValueId> wanted = testing_support::outputs_of(on_far.model());
  EXPECT_THROW(context.run(given, wanted, [](ir::ValueId, const auto&) {},
                           {{wanted[0], OutputPlace{tensor::DType::float32, {2, 3}, {}, y.storage()}}}),
               Error);
  lent.run({&other_x, &other_w}, y, other);
  EXPECT_EQ(lent.difference_of(y, other), "");
}

TEST(LentMemory, OfAnotherTypeOrShapeIsRefused) {
  OnFar on_far(kSum);
  Context context(on_far.program(), {}, false);
  const Lent x(on_far, 6);
  std::vector<ops::InputDatum> given = testing_support::drawn_inputs(on_far.model(), testing_support::sine);
  given[0].datum = tensor::Tensor(tensor::DType::float32, {3, 2}, x.storage());
  EXPECT_THROW(context.run(given, testing_support::outputs_of(on_far.model()), [](ir::ValueId, const auto&) {}), Error);
}

}  // namespace
}  // namespace assay::engine
