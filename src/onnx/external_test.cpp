// External data: where it may lie, what is read of it, how it is written.
#include "onnx/import/external.h"

#include <set>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "ir/edit.h"
#include "onnx/load.h"
#include "support/model_checks.h"

namespace assay::onnx {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;
using Entries = std::vector<std::pair<std::string, std::string>>;

class External : public testing::Test {
 protected:
  External() { folder_.put("w.bin", "0123456789abcdef"); }

  ir::Model load_model(const Wire& initializer, const LoadOptions& options = {}) {
    Diagnostics findings;
    return load(folder_.put("m.onnx", model(graph({}).message(5, initializer)).bytes()), options, findings);
  }
  std::string line(const Entries& entries, ErrorCode code = ErrorCode::parse) {
    const std::optional<Error> error = error_of([&] { load_model(external_tensor("W", entries)); });
    if (!error) return "no error";
    EXPECT_TRUE(is_one_line(*error));
    EXPECT_EQ(error->code(), code) << error->line();
    return error->line();
  }
  static std::string text(const tensor::Tensor& tensor) {
    return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size()};
  }
  static std::string name_of(const ir::Model& model, ir::ValueId id) { return std::string(model.text(model[id].name)); }
  ir::Model reload(std::string_view name) {
    Diagnostics findings;
    return load(folder_.path() / name, {}, findings);
  }
  // A model with initializers W0, W1, … of these sizes.
  ir::Model with_sizes(const std::vector<size_t>& sizes) {
    Wire main = graph({});
    for (size_t i = 0; i < sizes.size(); ++i) {
      main.message(5, raw_tensor("W" + std::to_string(i), 2, {static_cast<int64_t>(sizes[i])},
                                 std::string(sizes[i], static_cast<char>('a' + i))));
    }
    Diagnostics findings;
    return load(folder_.put("m.onnx", model(main).bytes()), {}, findings);
  }

  TemporaryFolder folder_;
};

TEST_F(External, reads_a_range) {
  const ir::Model loaded =
      load_model(external_tensor("W", {{"location", "w.bin"}, {"offset", "4"}, {"length", "8"}, {"checksum", "x"}}));
  EXPECT_EQ(text(loaded[ir::TensorId{0}].tensor), "456789ab");
  EXPECT_EQ(loaded[ir::TensorId{0}].external_location, "w.bin");
  EXPECT_EQ(text(load_model(external_tensor("W", {{"location", "./w.bin"}}))[ir::TensorId{0}].tensor), "01234567");
}

TEST_F(External, a_pointer_in_the_place_of_the_weights_is_named) {
  folder_.put("w.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n");
  EXPECT_NE(line({{"location", "w.bin"}, {"offset", "100"}}).find("run `git lfs pull`"), std::string::npos);
}

TEST_F(External, locations_may_not_leave_the_folder) {
  const std::string outside = folder_.put("outside.bin", "0123456789").string();
  const TemporaryFolder other;
  fs::create_symlink(other.put("x.bin", "0123456789"), folder_.path() / "link.bin");
  fs::create_directory_symlink(other.path(), folder_.path() / "linked");
  for (const std::string& location :
       {std::string("../w.bin"), std::string("a/../w.bin"), outside, std::string(""), std::string("w.bin\0x", 7),
        std::string("link.bin"), std::string("linked/x.bin")}) {
    EXPECT_NE(line({{"location", location}}), "no error") << location;
  }
  fs::create_symlink("w.bin", folder_.path() / "inside.bin");
  EXPECT_EQ(line({{"location", "inside.bin"}}), "no error");
}

TEST_F(External, ranges_must_fit) {
  EXPECT_NE(line({{"location", "w.bin"}, {"offset", "9"}}).find("pass the end"), std::string::npos);
  EXPECT_NE(line({{"location", "w.bin"}, {"offset", "18446744073709551615"}}).find("pass the end"), std::string::npos);
  EXPECT_NE(line({{"location", "w.bin"}, {"length", "4"}}).find("has the length 4"), std::string::npos);
  for (const std::string number : {"-1", "x", "", "1.5", "18446744073709551616", " 1"}) {
    EXPECT_NE(line({{"location", "w.bin"}, {"offset", number}}).find("expected a number"), std::string::npos) << number;
  }
}

TEST_F(External, files_that_cannot_be_read) {
  EXPECT_NE(line({{"location", "none.bin"}}, ErrorCode::io).find("none.bin"), std::string::npos);
  fs::create_directory(folder_.path() / "sub");
  EXPECT_NE(line({{"location", "sub"}}, ErrorCode::io).find("not a file"), std::string::npos);
  mkfifo((folder_.path() / "pipe").c_str(), 0600);
  EXPECT_NE(line({{"location", "pipe"}}, ErrorCode::io).find("not a file"), std::string::npos);
}

TEST_F(External, unread_weights_are_an_error_only_where_they_are_asked_for) {
  LoadOptions options;
  options.ignore_external_data = true;
  ir::Model loaded = load_model(external_tensor("W", {{"location", "none.bin"}}), options);
  EXPECT_EQ(loaded[ir::TensorId{0}].tensor.size_bytes(), 8u);
  EXPECT_EQ(error_of([&] { loaded[ir::TensorId{0}].tensor.bytes(); })->code(), ErrorCode::io);
  ir::Edit edit(loaded);
  edit.rename(loaded[loaded.main_graph()].initializers[0], edit.intern("renamed"));
  save(loaded, folder_.path() / "m.onnx");
  loaded = load_model(external_tensor("W", {{"location", "none.bin"}}), options);
  const TemporaryFolder other;
  EXPECT_EQ(error_of([&] { save(loaded, other.path() / "m.onnx"); })->code(), ErrorCode::io);
  EXPECT_TRUE(fs::is_empty(other.path()));
  EXPECT_EQ(error_of([&] {
              load_model(external_tensor("W", {{"location", "../x"}}), options);
            })->code(),
            ErrorCode::parse);
}

TEST_F(External, unknown_dtypes_take_their_length_or_the_rest_of_the_file) {
  const auto with_dtype = [](const Entries& entries) {
    return Wire().integer(1, 3).integer(2, 77).text(8, "W").raw(external_tensor("", entries, {}).bytes().substr(4));
  };
  EXPECT_EQ(
      text(load_model(with_dtype({{"location", "w.bin"}, {"offset", "2"}, {"length", "3"}}))[ir::TensorId{0}].tensor),
      "234");
  EXPECT_EQ(text(load_model(with_dtype({{"location", "w.bin"}, {"offset", "12"}}))[ir::TensorId{0}].tensor), "cdef");
}

TEST_F(External, a_rename_leaves_the_data_where_it_is) {
  ir::Model loaded = load_model(external_tensor("W", {{"location", "w.bin"}}).unknown());
  ir::Edit edit(loaded);
  edit.rename(loaded[loaded.main_graph()].initializers[0], edit.intern("renamed"));
  save(loaded, folder_.path() / "out.onnx");
  const ir::Model again = reload("out.onnx");
  EXPECT_EQ(name_of(again, again[again.main_graph()].initializers[0]), "renamed");
  EXPECT_EQ(again[ir::TensorId{0}].external_location, "w.bin");
  EXPECT_NE(folder_.get("out.onnx").find("kept"), std::string::npos);
}

TEST_F(External, data_goes_along_to_another_folder) {
  const ir::Model loaded = load_model(external_tensor("W", {{"location", "w.bin"}}).unknown());
  const TemporaryFolder other;
  save(loaded, other.path() / "m.onnx");
  Diagnostics findings;
  const ir::Model again = load(other.path() / "m.onnx", {}, findings);
  EXPECT_EQ(again[ir::TensorId{0}].external_location, "");
  EXPECT_EQ(text(again[ir::TensorId{0}].tensor), "01234567");
  EXPECT_NE(other.get("m.onnx").find("kept"), std::string::npos);
}

TEST_F(External, data_of_another_folder_goes_along) {
  fs::create_directory(folder_.path() / "data");
  folder_.put("data/d.bin", "fedcba98");
  const fs::path path =
      folder_.put("m.onnx", model(graph({}).message(5, external_tensor("W", {{"location", "d.bin"}}))).bytes());
  LoadOptions options;
  options.external_folder = folder_.path() / "data";
  Diagnostics findings;
  const ir::Model loaded = load(path, options, findings);
  SaveOptions saving;
  saving.external_folder = options.external_folder;
  save(loaded, folder_.path() / "out.onnx", saving);
  EXPECT_EQ(text(reload("out.onnx")[ir::TensorId{0}].tensor), "fedcba98");
  save(loaded, folder_.path() / "data" / "out.onnx", saving);
  EXPECT_EQ(reload("data/out.onnx")[ir::TensorId{0}].external_location, "d.bin");
}

TEST_F(External, weights_that_are_needed_are_not_written_over) {
  const ir::Model loaded = load_model(external_tensor("W", {{"location", "w.bin"}}));
  EXPECT_EQ(error_of([&] { save(loaded, folder_.path() / "w.bin"); })->code(), ErrorCode::usage);
  SaveOptions options;
  options.external_name = "w.bin";
  options.threshold = 0;
  EXPECT_EQ(error_of([&] { save(loaded, folder_.path() / "other.onnx", options); })->code(), ErrorCode::usage);
  EXPECT_EQ(folder_.get("w.bin"), "0123456789abcdef");
  save(loaded, folder_.path() / "m.onnx", options);  // in place
  EXPECT_EQ(text(reload("m.onnx")[ir::TensorId{0}].tensor), "01234567");
}

TEST_F(External, writes_aligned_and_leaves_small_tensors_inside) {
  const ir::Model loaded = with_sizes({100, 5000, 10, 3000});
  SaveOptions options;
  options.external_name = "out.data";
  options.threshold = 99;
  const SaveReport report = save(loaded, folder_.path() / "out.onnx", options);
  EXPECT_EQ(report.external_name, "out.data");
  EXPECT_EQ(report.external_bytes, 8100u);
  EXPECT_EQ(fs::file_size(folder_.path() / "out.data"), 3 * 4096u + 3000u);
  const ir::Model again = reload("out.onnx");
  EXPECT_EQ(again[ir::TensorId{2}].external_location, "");
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(text(again[ir::TensorId{i}].tensor), text(loaded[ir::TensorId{i}].tensor));
}

TEST_F(External, one_file_for_each_tensor) {
  Wire main = graph({});
  const std::vector<std::string> names = {"a/b", "a_b", "", std::string(400, 'n'), std::string(400, 'n') + "2",
                                          "..",  "a/b"};
  for (size_t i = 0; i < names.size(); ++i)
    main.message(5, raw_tensor(names[i], 2, {8}, std::string(8, static_cast<char>('a' + i))));
  Diagnostics findings;
  const ir::Model loaded = load(folder_.put("m.onnx", model(main).bytes()), {}, findings);
  SaveOptions options;
  options.external_name = "w";
  options.threshold = 0;
  options.one_file = false;
  save(loaded, folder_.path() / "out.onnx", options);
  const ir::Model again = reload("out.onnx");
  std::set<std::string> files;
  for (uint32_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(text(again[ir::TensorId{i}].tensor), std::string(8, static_cast<char>('a' + i)));
    files.emplace(again[ir::TensorId{i}].external_location);
  }
  EXPECT_EQ(files.size(), names.size());
}

TEST_F(External, thousands_of_files) {
  Wire main = graph({});
  for (int i = 0; i < 1500; ++i) main.message(5, raw_tensor("W" + std::to_string(i), 2, {4}, "data"));
  const ir::Model loaded = import_bytes(model(main).bytes());
  SaveOptions options;
  options.external_name = "w";
  options.threshold = 0;
  options.one_file = false;
  rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit few = {256, limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  const std::optional<Error> error = error_of([&] { save(loaded, folder_.path() / "many" / "out.onnx", options); });
  setrlimit(RLIMIT_NOFILE, &limit);
  ASSERT_FALSE(error) << error->line();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path() / "many"), fs::directory_iterator()), 1501);
}

TEST_F(External, names_that_cannot_be_used) {
  const ir::Model loaded = with_sizes({5000});
  for (const std::string name : {"../w", "/tmp/w", "a/../b", "out.onnx", "./out.onnx"}) {
    SaveOptions options;
    options.external_name = name;
    const std::optional<Error> error = error_of([&] { save(loaded, folder_.path() / "out.onnx", options); });
    ASSERT_TRUE(error) << name;
    EXPECT_EQ(exit_status(error->code()), 2);
    EXPECT_FALSE(fs::exists(folder_.path() / "out.onnx"));
  }
  SaveOptions options;
  options.external_name = "w";
  options.alignment = uint64_t{1} << 40;
  EXPECT_EQ(error_of([&] { save(loaded, folder_.path() / "out.onnx", options); })->code(), ErrorCode::usage);
}

TEST_F(External, a_file_that_is_read_may_be_written_over) {
  Wire main = graph({node("Constant", {}, {"Y"})
                         .message(5, Wire()
                                         .text(1, "value")
                                         .message(5, external_tensor("", {{"location", "w.bin"}, {"offset", "8"}}))
                                         .integer(20, 4))});
  main.message(5, external_tensor("W", {{"location", "w.bin"}, {"offset", "4"}}));
  Diagnostics findings;
  const ir::Model loaded = load(folder_.put("m.onnx", model(main).bytes()), {}, findings);
  SaveOptions options;
  options.external_name = "w.bin";
  options.threshold = 4;
  options.alignment = 64;
  save(loaded, folder_.path() / "m.onnx", options);
  const ir::Model again = reload("m.onnx");
  std::multiset<std::string> seen;
  for (uint32_t i = 0; i < 2; ++i) seen.insert(text(again[ir::TensorId{i}].tensor));
  EXPECT_EQ(seen, (std::multiset<std::string>{"456789ab", "89abcdef"}));
}

TEST_F(External, a_file_beyond_the_limit_gets_external_data_unasked) {
  ir::Model loaded = with_sizes({5000, 10});
  SaveOptions options;
  options.single_file_limit = 2000;
  EXPECT_EQ(save(loaded, folder_.path() / "same.onnx", options).external_name, "") << "what was not edited is copied";
  ir::Edit(loaded).header().doc = "edited";
  EXPECT_EQ(save(loaded, folder_.path() / "out.onnx", options).external_name, "out.onnx.data");
  EXPECT_LT(fs::file_size(folder_.path() / "out.onnx"), 2000u);
  EXPECT_EQ(text(reload("out.onnx")[ir::TensorId{0}].tensor), std::string(5000, 'a'));
}

}  // namespace
}  // namespace assay::onnx
