#include "cli/view/routes.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"

namespace assay::cli {
namespace {

constexpr std::string_view kModel =
    "<ir_version: 8, opset_import: [\"\" : 17]> net (float[2,3] x) => (float[2,3] y) <float[3] w = {1,2,3}> "
    "{ [sum] s = Add(x, w) [soft] y = Softmax<axis = 1>(s) }";

class Routes : public testing::Test {
 protected:
  Routes() : path_((folder_.path() / "net.onnxtxt").string()) {
    OutputFile file(path_);
    file.write(kModel);
    file.commit();
    tasks::ViewRequest request;
    request.model.path = path_;
    view_ = std::make_unique<tasks::View>(request, observer_);
    routes_ = std::make_unique<ViewRoutes>(*view_, "assay view net.onnxtxt");
  }

  http::Reply get(std::string path, std::vector<std::pair<std::string, std::string>> query = {}) {
    http::Request request;
    request.method = "GET";
    request.path = std::move(path);
    request.query = std::move(query);
    return routes_->reply(request);
  }
  http::Reply post(std::string path, std::string body) {
    http::Request request;
    request.method = "POST";
    request.path = std::move(path);
    request.body = std::move(body);
    return routes_->reply(request);
  }
  uint32_t item(std::string_view name) const {
    const results::TextColumn& names = view_->scene(0).items.names;
    for (uint32_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return i;
    }
    return 0;
  }

  TemporaryFolder folder_;
  std::string path_;
  tasks::Observer observer_;
  std::unique_ptr<tasks::View> view_;
  std::unique_ptr<ViewRoutes> routes_;
};

bool holds(const http::Reply& reply, std::string_view text) { return reply.body.find(text) != std::string::npos; }

TEST_F(Routes, the_shell_holds_no_data) {
  const http::Reply page = get("/");
  EXPECT_EQ(page.type, "text/html");
  for (const char* text : {"net.onnxtxt", "application/x-assay", "@STYLE@", "@DATA@", "@SCRIPT@"}) {
    EXPECT_FALSE(holds(page, text)) << text;
  }
  EXPECT_TRUE(holds(page, "assayEarly"));
  EXPECT_TRUE(page.sources.starts_with("script-src 'sha256-")) << page.sources;
  EXPECT_EQ(page.sources.find("'self'"), std::string::npos) << page.sources;
  for (const char* path : {"/nothing", "/etc/passwd", "/..", "/api", "/api/scene", "/api/scene/0/1", "/api/x/1"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
  EXPECT_EQ(post("/", "").status, 405);
}

TEST_F(Routes, parts_of_a_scene) {
  EXPECT_TRUE(holds(get("/api/subject"), "\"scenes\": [\"main\"]"));
  const http::Reply scene = get("/api/scene/0");
  ASSERT_FALSE(scene.pieces.empty());
  EXPECT_TRUE(scene.pieces.front().starts_with("ASV1"));
  const std::string_view start = scene.pieces.front();
  EXPECT_EQ(static_cast<unsigned char>(start[4]) + 256U * static_cast<unsigned char>(start[5]),
            scene.pieces.back().size());
  const std::string sum = std::to_string(item("sum"));
  EXPECT_TRUE(holds(get("/api/node/0/" + sum), "\"op\": \"Add\""));
  const uint32_t weight = view_->node(0, item("sum")).inputs[1].value;
  const std::string value = "/api/value/0/" + std::to_string(weight);
  EXPECT_TRUE(holds(get(value + "/statistics"), "\"greatest\": 3.0"));
  EXPECT_TRUE(get(value + "/slice", {{"at", "1:"}, {"reduce", "min"}, {"width", "8"}}).body.starts_with("ASV1"));
  EXPECT_TRUE(holds(get("/api/value/0/0/statistics"), "\"available\": false"));
  EXPECT_TRUE(holds(get("/api/search", {{"attr", "axis=1"}, {"scene", "0"}}), std::to_string(item("soft"))));
  EXPECT_TRUE(get("/api/events").stream != nullptr);
}

TEST_F(Routes, numbers_that_nothing_has_are_refused) {
  for (const char* path : {"/api/scene/7", "/api/scene/-1", "/api/scene/x", "/api/overlay/0", "/api/node/0/999",
                           "/api/node/9/0", "/api/value/0/99999/statistics", "/api/value/0/0/slice",
                           "/api/value/0/4294967295/statistics", "/api/values/compare/0/99999"}) {
    EXPECT_THROW(get(path), Error) << path;
  }
}

TEST_F(Routes, exports) {
  EXPECT_TRUE(post("/api/export", "{\"kind\": \"svg\"}").body.starts_with("<svg"));
  EXPECT_TRUE(holds(post("/api/export", "{\"kind\": \"html\"}"), "id=\"scene/0\""));
  EXPECT_EQ(post("/api/export", "{\"kind\": \"pdf\"}").status, 400);
  EXPECT_THROW(post("/api/export", "{"), Error);
}

TEST(PageCommands, only_a_few_words_are_allowed) {
  const auto check = [](const std::vector<std::string>& words) { check_page_command(words, "m.onnx"); };
  check({"run", "m.onnx", "--onnxrt", "--ref", "--onnx-outputs", "a", "b"});
  check({"debug", "accuracy", "m.onnx", "--engine", "--against", "onnxrt"});
  check({"check", "lint", "m.onnx"});
  EXPECT_THROW(check({}), Error);
  EXPECT_THROW(check({"run"}), Error);
  EXPECT_THROW(check({"run", "other.onnx"}), Error);
  EXPECT_THROW(check({"convert", "m.onnx"}), Error);
  EXPECT_THROW(check({"run", "m.onnx", "--save-outputs", "x.json"}), Error);
  EXPECT_THROW(check({"run", "m.onnx", "--save-out=x.json"}), Error);
  EXPECT_THROW(check({"run", "m.onnx", "--onnxrt", "x.onnx"}), Error);
  EXPECT_THROW(check({"run", "m.onnx", "--onnx-outputs", "a", "--data-loader-script", "x.py"}), Error);
}

}  // namespace
}  // namespace assay::cli
