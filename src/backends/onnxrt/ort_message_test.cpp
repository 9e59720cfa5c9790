#include <gtest/gtest.h>

#include "backends/onnxrt/ort_library.h"

namespace assay::backends::ort {
namespace {

TEST(PlainMessage, LeavesOutPlacesInTheLibrarysSources) {
  EXPECT_EQ(
      plain_message("/o/core/graph/model.cc:256 onnxruntime::Model::Model(onnx::ModelProto&&, const F<int(int)>&) "
                    "Unsupported model IR version: 14, max supported IR version: 13\n"),
      "Unsupported model IR version: 14, max supported IR version: 13");
  EXPECT_EQ(plain_message("Exception during initialization: /o/rnn/rnn.h:48 RNN<T>::RNN(const Info&) [with T = float] "
                          "layout_ == 0 was false. Not supported."),
            "Exception during initialization: layout_ == 0 was false. Not supported.");
  EXPECT_EQ(plain_message("Load model from m.onnx failed:/o/m.cc:1 f(g()) const it is bad"),
            "Load model from m.onnx failed: it is bad");
  EXPECT_EQ(plain_message("\n  nothing special\nsecond line"), "nothing special");
  EXPECT_EQ(plain_message(""), "it failed without a message");
  EXPECT_EQ(plain_message("/o/m.cc:1"), "/o/m.cc:1");
  EXPECT_EQ(plain_message("/o/m.cc:1 f("), "/o/m.cc:1 f(");
}

TEST(UnregisteredOp, IsWhatStandsBeforeTheVersion) {
  EXPECT_EQ(unregistered_op("Fatal error: my:Thing(-1) is not a registered function/op"), "my:Thing");
  EXPECT_EQ(unregistered_op("Thing(-1) is not a registered function/op"), "Thing");
  EXPECT_EQ(unregistered_op("-1) is not a registered function/op"), "");
  EXPECT_EQ(unregistered_op("Fatal error: my:Thing(-1)"), "");
}

TEST(NodeInMessage, IsWhatStandsInTheKnownForms) {
  EXPECT_EQ(node_in_message("returned while running Add node. Name:'add_3' Status Message: x"), "add_3");
  EXPECT_EQ(node_in_message("no implementation for Foo(1) node with name 'a b'"), "a b");
  EXPECT_EQ(node_in_message("Node (conv) Op (Conv) failed"), "conv");
  EXPECT_EQ(node_in_message("nothing"), "");
}

}  // namespace
}  // namespace assay::backends::ort
