#include "formats/saved_data.h"

#include <gtest/gtest.h>

#include "formats/input_blob.h"
#include "support/data_files.h"

namespace assay::formats {
namespace {

using namespace testing_support;
using tensor::DType;
using tensor::Tensor;

const Tensor kFloats = tensor_of<float>(DType::float32, {2}, {1, 2});
const Tensor kBytes = tensor_of<uint8_t>(DType::uint8, {1, 2}, {3, 4});
const SavedInputs kOne = {{{"x", kFloats}, {"y", kBytes}}};
const SavedInputs kTwo = {{{"x", kFloats}}, {{"x", kBytes}}};
const SavedRuns kRuns = {{"a", {{kTwo[0], 0.5, "a"}, {kTwo[1], 0.5, "a"}}},
                         {"b", {{kTwo[1], {}, "b"}, {kTwo[0], {}, "b"}}}};

std::string load_error(const std::filesystem::path& path) {
  try {
    touch(load_data(path));
  } catch (const Error& error) {
    return error.line();
  }
  return {};
}

TEST(SavedData, every_form_comes_back) {
  const DataFolder folder;
  for (const char* name : {"a.json", "a", "a.npz", "a.safetensors", "a.raw", "a.raw2.RAW", "folder/"}) {
    save_inputs(folder / name, kOne);
    EXPECT_TRUE(is_same(load_inputs(folder / name), kOne)) << name;
  }
  for (const char* name : {"b.json", "b.raw", "b/"}) {
    save_inputs(folder / name, kTwo);
    EXPECT_TRUE(is_same(load_inputs(folder / name), kTwo)) << name;
  }
}

TEST(SavedData, one_array_is_named_after_its_file) {
  const DataFolder folder;
  save_inputs(folder / "w.npy", {{{"x", kFloats}}});
  EXPECT_TRUE(is_same(load_inputs(folder / "w.npy"), {{{"w", kFloats}}}));
}

TEST(SavedData, results_in_a_folder) {
  const DataFolder folder;
  save_results(folder / "r/", kRuns);
  const SavedRuns runs = load_results(folder / "r");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].runner, "b");
  ASSERT_EQ(runs[1].iterations.size(), 2u);
  EXPECT_TRUE(is_same(runs[1].iterations[0].outputs, kTwo[1]));
  EXPECT_TRUE(std::filesystem::exists(folder / "r/0000000001.json"));
}

TEST(SavedData, arrays_become_results_and_results_do_not_become_inputs) {
  const DataFolder folder;
  save_inputs(folder / "golden.npz", kOne);
  const SavedRuns runs = load_results(folder / "golden.npz");
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].runner, "golden");
  save_results(folder / "r.json", kRuns);
  try {
    load_inputs(folder / "r.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.remedy(), "inputs_of_outputs");
  }
}

TEST(SavedData, what_a_form_cannot_hold) {
  const DataFolder folder;
  for (const char* name : {"a.npz", "a.npy", "a.safetensors"})
    EXPECT_THROW(save_inputs(folder / name, kTwo), Error) << name;
  EXPECT_THROW(save_inputs(folder / "a.npy", kOne), Error);
  EXPECT_THROW(save_results(folder / "a.npz", kRuns), Error);
  EXPECT_THROW(save_inputs(folder / "s.raw", {{{"s", strings_of({1}, {"a"})}}}), Error);
  save_results(folder / "a.raw", {kRuns[0]});
  EXPECT_TRUE(is_same(load_inputs(folder / "a.raw"), kTwo));
}

TEST(SavedData, what_fails_leaves_no_half_of_a_folder) {
  const DataFolder folder;
  const SavedInputs with_text = {{{"x", kBytes}, {"s", strings_of({1}, {"a"})}}};
  const SavedRuns uneven = {kRuns[0], {"b", {}}};
  std::filesystem::create_directory(folder / "there.raw");
  for (const char* name : {"new.raw", "new.raw/", "there.raw"})
    EXPECT_THROW(save_inputs(folder / name, with_text), Error);
  EXPECT_THROW(save_results(folder / "new/", uneven), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "new.raw"));
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "there.raw"));
  EXPECT_NO_THROW(save_inputs(folder / "there.raw", kOne));
}

TEST(SavedData, a_folder_that_is_not_empty_is_not_written_to) {
  const DataFolder folder;
  folder.put("full/0000000009.json", "{}");
  EXPECT_THROW(save_inputs(folder / "full", kOne), Error);
  EXPECT_THROW(save_inputs(folder / "full/", kOne), Error);
}

TEST(SavedData, folders_whose_files_differ) {
  const DataFolder folder;
  EXPECT_NE(load_error(folder / ""), "");
  save_results(folder / "m/0.json", kRuns);
  save_results(folder / "m/1.json", {kRuns[0]});
  EXPECT_NE(load_error(folder / "m").find("other runners"), std::string::npos);
  save_inputs(folder / "m/1.json", kOne);
  EXPECT_NE(load_error(folder / "m"), "");
}

TEST(SavedData, many_files_in_a_folder) {
  const DataFolder folder;
  save_inputs(folder / "many.raw", SavedInputs(3000, {{"x", kBytes}}));
  EXPECT_EQ(load_inputs(folder / "many.raw").size(), 3000u);
}

TEST(SavedData, manifests_that_lie) {
  const DataFolder folder;
  const auto manifest = [&](std::string_view file, std::string_view shape, std::string_view dtype = "uint8") {
    folder.put("m.raw/manifest.json",
               fmt::format(R"({{"format": "assay/raw/1", "iterations": 1, "arrays": [{{"name": "x", "iteration": 0, )"
                           R"("dtype": "{}", "shape": {}, "file": "{}"}}]}})",
                           dtype, shape, file));
    return load_error(folder / "m.raw");
  };
  folder.put("m.raw/x.bin", "ab");
  folder.put("outside.bin", "ab");
  EXPECT_EQ(manifest("x.bin", "[2]"), "");
  EXPECT_NE(manifest("../outside.bin", "[2]").find("not in the folder"), std::string::npos);
  EXPECT_NE(manifest("..", "[2]").find("not in the folder"), std::string::npos);
  EXPECT_NE(manifest("none.bin", "[2]"), "");
  EXPECT_NE(manifest("x.bin", "[3]"), "");
  EXPECT_NE(manifest("x.bin", "[2]", "string"), "");
  folder.put("m.raw/manifest.json", R"({"format": "assay/raw/1", "iterations": 1000000000000, "arrays": []})");
  EXPECT_NE(load_error(folder / "m.raw"), "");
}

TEST(SavedData, input_blobs) {
  const DataFolder folder;
  save_input_blob(folder / "blob", 12, {{"x", kFloats}, {"a/b", kBytes}});
  EXPECT_EQ(folder.read("blob/0000000012/x.bin"), bytes_of(kFloats));
  EXPECT_EQ(folder.read("blob/0000000012/a/b.bin"), bytes_of(kBytes));
  for (const char* name : {"../x", "/x", "a/../../x", "", ".."}) {
    EXPECT_THROW(save_input_blob(folder / "blob", 13, {{"x", kFloats}, {name, kBytes}}), Error) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "blob/0000000013"));
}

// Cut at every byte, and with every byte changed: an Error or other data, never a crash.
TEST(SavedData, damaged_files) {
  const DataFolder folder;
  for (const char* name : {"a.json", "a.npz", "a.safetensors"}) {
    save_inputs(folder / name, {{{"x", kFloats}, {"b", tensor_of<uint8_t>(DType::boolean, {1}, {1})}}});
  }
  save_inputs(folder / "a.npy", {{{"x", kFloats}}});
  save_results(folder / "r.json", kRuns);
  for (const char* name : {"a.json", "a.npz", "a.safetensors", "a.npy", "r.json"}) {
    const std::string whole = folder.read(name);
    EXPECT_EQ(error_of(whole), "") << name;
    for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(error_of(whole.substr(0, size)), "") << name << size;
    for (size_t at = 0; at < whole.size(); ++at) {
      for (const char change : {'\x01', '\x80', '\xff', '\x20'}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ change);
        EXPECT_EQ(error_of(changed).find('\n'), std::string::npos);
      }
    }
  }
}

TEST(SavedData, what_is_no_data) {
  EXPECT_NE(error_of("").find("an empty file"), std::string::npos);
  EXPECT_NE(error_of("hello").find("an unknown format"), std::string::npos);
  EXPECT_NE(error_of("version https://git-lfs.github.com/spec/v1\n").find("run `git lfs pull`"), std::string::npos);
  EXPECT_NE(load_error("/nowhere/x.json").find("loading `/nowhere/x.json`"), std::string::npos);
}

}  // namespace
}  // namespace assay::formats
