#include "base/files.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRole = "ASSAY_FILES_TEST_ROLE";
constexpr const char* kFolder = "ASSAY_FILES_TEST_FOLDER";

class Files : public testing::Test {
 protected:
  Files() {
    std::string name = fs::temp_directory_path() / "assay_files_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~Files() override { fs::remove_all(folder_); }

  fs::path put(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  std::string get(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    return found;
  }
  static void write(const fs::path& path, std::string_view text) {
    OutputFile file(path);
    file.write(text);
    file.commit();
  }

  fs::path folder_;
};

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

template <typename Fn>
std::string error_of(Fn&& fn) {
  try {
    fn();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    return error.line();
  }
  return "no error";
}

std::string big_text(size_t size) {
  std::string text(size, ' ');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * i % 26);
  return text;
}

TEST_F(Files, maps_a_file) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(put("a", "some text"));
  EXPECT_EQ(text_of(*file), "some text");
  EXPECT_EQ(file->size(), 9U);
  EXPECT_EQ(file->path(), folder_ / "a");
  EXPECT_GE(file->fd(), 0);
}

TEST_F(Files, maps_an_empty_file) { EXPECT_EQ(MappedFile::open(put("a", ""))->size(), 0U); }

TEST_F(Files, refuses_what_cannot_be_read) {
  const std::string folder = folder_;
  EXPECT_EQ(error_of([&] { MappedFile::open(folder); }), "`" + folder + "` is a folder, expected a file");
  EXPECT_EQ(error_of([&] { MappedFile::open(folder + "/no"); }),
            "cannot open `" + folder + "/no`: no such file or directory");
  put("file", "");
  EXPECT_EQ(error_of([&] { MappedFile::open(folder + "/file/x"); }),
            "cannot open `" + folder + "/file/x`: not a directory");
}

TEST_F(Files, reads_devices_and_process_files) {
  EXPECT_EQ(MappedFile::open("/dev/null")->size(), 0U);
  EXPECT_THROW(MappedFile::open("/dev/zero"), Error);
  EXPECT_NE(text_of(*MappedFile::open("/proc/self/status")).find("Pid:"), std::string::npos);
}

TEST_F(Files, reads_a_fifo) {
  const fs::path path = folder_ / "fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const std::string text = big_text(300000);
  std::thread writer([&] { write(path, text); });
  EXPECT_EQ(text_of(*MappedFile::open(path)), text);
  writer.join();
  EXPECT_EQ(names(), std::vector<std::string>{"fifo"});
}

TEST_F(Files, reads_a_stream) {
  const int fd = open(put("a", "streamed").c_str(), O_RDONLY);
  const std::shared_ptr<const MappedFile> file = MappedFile::read_stream(fd, "-");
  close(fd);
  EXPECT_EQ(text_of(*file), "streamed");
  EXPECT_EQ(file->path(), "-");
  EXPECT_EQ(file->fd(), -1);
  EXPECT_EQ(error_of([] { MappedFile::read_stream(-1, "-"); }), "cannot read `-`: bad file descriptor");
}

TEST_F(Files, keeps_bytes) {
  const std::string text = "kept";
  EXPECT_EQ(text_of(*MappedFile::from_bytes(std::as_bytes(std::span(text)), "x")), "kept");
  EXPECT_EQ(MappedFile::from_bytes({}, "x")->size(), 0U);
}

TEST_F(Files, appears_only_when_complete) {
  put("out", "old");
  OutputFile file(folder_ / "out");
  file.write(big_text(200000));
  file.write(std::string_view("end"));
  EXPECT_EQ(file.position(), 200003U);
  EXPECT_EQ(get("out"), "old");
  EXPECT_EQ(names().size(), 2U);
  EXPECT_EQ(names()[0].rfind(".out.", 0), 0U);
  file.commit();
  EXPECT_EQ(get("out"), big_text(200000) + "end");
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
}

TEST_F(Files, leaves_nothing_without_commit) {
  put("out", "old");
  {
    OutputFile file(folder_ / "out");
    file.write("new");
  }
  EXPECT_EQ(get("out"), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"out"});
}

TEST_F(Files, keeps_the_mode_of_what_it_replaces) {
  chmod(put("out", "old").c_str(), 0640);
  write(folder_ / "out", "new");
  EXPECT_EQ(fs::status(folder_ / "out").permissions(), fs::perms(0640));
  const mode_t mask = umask(027);
  write(folder_ / "fresh", "new");
  umask(mask);
  EXPECT_EQ(fs::status(folder_ / "fresh").permissions(), fs::perms(0640));
}

TEST_F(Files, writes_through_links) {
  put("target", "old");
  fs::create_symlink("target", folder_ / "link");
  fs::create_symlink("link", folder_ / "link_to_link");
  write(folder_ / "link_to_link", "new");
  EXPECT_EQ(get("target"), "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link_to_link"));
  fs::create_symlink("fresh", folder_ / "dangling");
  write(folder_ / "dangling", "made");
  EXPECT_EQ(get("fresh"), "made");
  fs::create_symlink("loop", folder_ / "loop");
  const std::string loop = folder_ / "loop";
  EXPECT_EQ(error_of([&] { OutputFile file(loop); }), "cannot write `" + loop + "`: too many levels of symbolic links");
}

TEST_F(Files, creates_missing_folders) {
  write(folder_ / "a/b/out", "text");
  EXPECT_EQ(get("a/b/out"), "text");
  const std::string below_file = folder_ / "a/b/out/c/d";
  EXPECT_EQ(error_of([&] { OutputFile file(below_file); }),
            "cannot create the folder `" + folder_.native() + "/a/b/out/c`: not a directory");
}

TEST_F(Files, refuses_a_folder) {
  const std::string folder = folder_;
  EXPECT_EQ(error_of([&] { OutputFile file(folder); }), "`" + folder + "` is a folder, expected a file");
  EXPECT_EQ(error_of([&] { OutputFile file(folder + "/new/"); }), "`" + folder + "/new/` is a folder, expected a file");
  EXPECT_EQ(error_of([] { OutputFile file(""); }), "cannot write ``: no such file or directory");
}

TEST_F(Files, writes_names_of_any_length) {
  const std::string name(255, 'n');
  write(folder_ / name, "text");
  EXPECT_EQ(get(name), "text");
}

TEST_F(Files, writes_devices_directly) {
  write("/dev/null", big_text(100000));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const std::string full = "cannot write `/dev/full`: no space left on device";
  EXPECT_EQ(error_of([] { write("/dev/full", "little"); }), full);
  EXPECT_EQ(error_of([] { write("/dev/full", big_text(100000)); }), full);
}

TEST_F(Files, writes_into_its_own_descriptors) {
  const int fd = open(put("out", "kept, ").c_str(), O_WRONLY | O_APPEND);
  write("/proc/self/fd/" + std::to_string(fd), "added");
  close(fd);
  EXPECT_EQ(get("out"), "kept, added");
}

TEST_F(Files, copies_from_a_mapped_file) {
  const std::string text = big_text(500000);
  const std::shared_ptr<const MappedFile> source = MappedFile::open(put("source", text));
  OutputFile file(folder_ / "out");
  file.write("head ");
  file.copy_from(*source, 1000, 400000);
  file.copy_from(*source, 7, 3);
  EXPECT_EQ(file.position(), 400008U);
  file.commit();
  EXPECT_EQ(get("out"), "head " + text.substr(1000, 400000) + text.substr(7, 3));
  OutputFile full("/dev/full");
  full.copy_from(*source, 0, 400000);
  EXPECT_EQ(error_of([&] { full.commit(); }), "cannot write `/dev/full`: no space left on device");
}

TEST_F(Files, a_file_that_waits_empty_is_filled_and_others_are_replaced) {
  for (const std::string& before : {std::string(), std::string("before")}) {
    std::ifstream opened(put("out", before));
    OutputFile file(folder_ / "out");
    file.write(big_text(500000));
    file.commit();
    EXPECT_TRUE(get("out") == big_text(500000));
    const std::string seen(std::istreambuf_iterator<char>(opened), {});
    EXPECT_TRUE(seen == (before.empty() ? big_text(500000) : before));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, writes_pieces_of_any_size_in_order) {
  const std::string text = big_text(6 << 20);
  const std::shared_ptr<const MappedFile> source = MappedFile::open(put("source", text));
  constexpr size_t kHuge = size_t{2} << 20;
  for (const size_t first : {size_t{0}, size_t{5}, size_t{4096}, kHuge - 1, kHuge, kHuge + 1}) {
    for (const size_t size : {size_t{1}, size_t{70000}, kHuge - 1, kHuge, kHuge + 1, 2 * kHuge + 77}) {
      OutputFile file(folder_ / "out");
      file.write(text.substr(0, first));
      file.write(text.substr(7, size));
      file.copy_from(*source, 11, size);
      file.copy_from(*source, file.position() % 4096, size);  // as it lies in the pages of the other
      file.write("tail");
      const uint64_t place = (first + 2 * size) % 4096;
      EXPECT_EQ(file.position(), first + 3 * size + 4);
      file.commit();
      const std::string wanted =
          text.substr(0, first) + text.substr(7, size) + text.substr(11, size) + text.substr(place, size) + "tail";
      EXPECT_TRUE(get("out") == wanted) << first << " " << size;
    }
  }
}

TEST_F(Files, copies_large_ranges_from_a_mapped_file) {
  std::string text(140 << 20, '\0');
  for (size_t i = 0; i < text.size(); i += 4096) text[i] = static_cast<char>('a' + i / 4096 % 26);
  const std::shared_ptr<const MappedFile> source = MappedFile::open(put("source", text));
  for (const fs::path& target : {folder_ / "out", fs::path("/dev/shm") / folder_.filename()}) {
    OutputFile file(target);
    file.write("head ");
    file.copy_from(*source, 1000, 130 << 20);
    file.write("tail");
    file.commit();
    const std::shared_ptr<const MappedFile> made = MappedFile::open(target);
    const std::string_view found(reinterpret_cast<const char*>(made->bytes().data()), made->bytes().size());
    EXPECT_TRUE(found == "head " + text.substr(1000, 130 << 20) + "tail");
    fs::remove(target);
  }
}

// The part of a test that must be a process of its own; see run_child().
TEST(FilesChild, DISABLED_plays_its_role) {
  if (std::getenv(kRole) == nullptr) GTEST_SKIP() << "started by the other tests";
  const std::string role = std::getenv(kRole);
  const fs::path folder = std::getenv(kFolder);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  install_signal_handlers();
  OutputFile file(folder / "out");
  file.write(big_text(100000));
  if (role == "wait") {
    std::ofstream(folder / "ready") << "ready";
    for (;;) pause();
  } else if (role == "shrink") {
    const std::shared_ptr<const MappedFile> mapped = MappedFile::open(folder / "source");
    fs::resize_file(folder / "source", 1);
    const std::byte last = mapped->bytes().back();
    _exit(std::to_integer<int>(last) == 0 ? 98 : 99);
  } else if (role == "bus") {
    raise(SIGBUS);
  } else if (role == "pipe") {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) _exit(99);
    close(ends[0]);
    OutputFile broken("/proc/self/fd/" + std::to_string(ends[1]));
    broken.write("text");
    const std::string error = error_of([&] { broken.commit(); });
    _exit(error.find("broken pipe") == std::string::npos ? 99 : 77);
  }
}

class FilesSignals : public Files {
 protected:
  // Starts this program again in the given role; its standard error goes to the file "err".
  pid_t start_child(const std::string& role) const {
    setenv(kRole, role.c_str(), 1);
    setenv(kFolder, folder_.c_str(), 1);
    std::string words[] = {"test_base", "--gtest_filter=FilesChild.*", "--gtest_also_run_disabled_tests"};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const std::string err = folder_ / "err";
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
    pid_t child = -1;
    EXPECT_EQ(posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    unsetenv(kRole);
    return child;
  }

  static int wait_for(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }

  void wait_until_ready() const {
    for (int i = 0; i < 60'000 && !fs::exists(folder_ / "ready"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ASSERT_TRUE(fs::exists(folder_ / "ready"));
  }

  void expect_clean_end(int signal_number) {
    const pid_t child = start_child("wait");
    wait_until_ready();
    EXPECT_EQ(names().size(), 3U);  // the unfinished file too
    kill(child, signal_number);
    const int status = wait_for(child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + signal_number);
    EXPECT_EQ(names(), (std::vector<std::string>{"err", "ready"}));
  }
};

TEST_F(FilesSignals, interrupt_removes_unfinished_files) { expect_clean_end(SIGINT); }
TEST_F(FilesSignals, termination_removes_unfinished_files) { expect_clean_end(SIGTERM); }

TEST_F(FilesSignals, a_file_that_shrinks_is_one_line) {
  put("source", big_text(100000));
  const int status = wait_for(start_child("shrink"));
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_EQ(get("err"), "[!] error: `" + folder_.native() + "/source` shrank while it was read\n");
  EXPECT_EQ(names(), (std::vector<std::string>{"err", "source"}));
}

TEST_F(FilesSignals, other_bus_errors_are_crashes) {
  const int status = wait_for(start_child("bus"));
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGBUS);
}

TEST_F(FilesSignals, a_closed_pipe_is_an_error) {
  const int status = wait_for(start_child("pipe"));
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 77);
}

}  // namespace
}  // namespace assay
