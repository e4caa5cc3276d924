#include "vm/value/file.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "tests/unit/fresh_folder.hpp"
#include "vm/value/file_beside.hpp"
#include "vm/value/temporaries.hpp"

namespace raddle::vm {
namespace {

TEST_CASE("a mapped file keeps its path; an existing one is complete") {
  auto file = make_ref<File>("out/a.txt");
  CHECK(file->is_mapped());
  CHECK(file->path() == "out/a.txt");
  CHECK_FALSE(file->is_complete());
  const Value existing = File::existing("in.txt");
  CHECK(existing.as_file().path() == "in.txt");
  CHECK(existing.as_file().is_complete());
}

TEST_CASE("an unmapped file is a temporary from its first use to its last reference") {
  std::string path;
  {
    auto file = make_ref<File>();
    CHECK_FALSE(file->is_mapped());
    path = file->path();
    CHECK(std::filesystem::path(path).filename().string().starts_with("raddle_"));
    CHECK(std::filesystem::exists(path));
    CHECK(file->path() == path);
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("an alias has the path of the other file and keeps it alive") {
  auto alias = make_ref<File>();
  std::string path;
  {
    auto original = make_ref<File>();
    path = original->path();
    alias->alias(original);
  }
  CHECK(alias->path() == path);
  CHECK(std::filesystem::exists(path));
  alias = {};
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("an unmapped file has no path before it is asked for it or becomes another file's name") {
  CHECK(make_ref<File>(std::string("a.txt"))->has_path());
  auto asked = make_ref<File>(), alias = make_ref<File>();
  CHECK_FALSE(asked->has_path());
  asked->path();
  CHECK(asked->has_path());
  alias->alias(asked);
  CHECK(alias->has_path());
  CHECK(alias->path() == asked->path());
}

TEST_CASE("what a process that was killed has left is removed by the next one, and nothing else") {
  const FreshFolder fresh;
  const std::string folder = std::filesystem::current_path().string();
  const auto number_of_files = [&] {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder)) ++count;
    return count;
  };
  const auto names = [&] {
    std::string all;
    for (const auto& file : std::filesystem::directory_iterator(folder)) all += file.path().filename().string() + " ";
    return all;
  };
  INFO("files: ", names());
  for (const char* name : {"raddle_abcdef", "raddle_abcdef_1", ".raddle", "x.csv.old.tmp", "x.csv.1-.csv",
                           "x.csv.1-2.tmp", "y.csv.1-0123456789abcdef.tmp", ".raddle-notes"})
    std::ofstream(folder + "/" + name) << "of somebody else";
  const std::size_t others = number_of_files();
  setenv("SWIFT_TMP", folder.c_str(), 1);
  const auto in_child = [&](bool is_killed) {
    int ready[2], go[2];
    REQUIRE((pipe(ready) == 0 && pipe(go) == 0));
    const pid_t child = fork();
    if (child == 0) {
      close(go[1]);          // else it would wait for itself
      remove_temporaries();  // of this process: it has a folder of its own
      const bool is_made = !make_temporary().empty() && !make_temporary().empty();
      const auto beside = FileBeside::make("x.csv", 0666);
      const std::string aside = make_folder_aside(folder);
      std::ofstream(aside + "/x.csv") << "half";
      [[maybe_unused]] const auto told = write(ready[1], is_made ? "x" : "-", 1);
      if (is_killed) raise(SIGKILL);
      char letter = 0;
      [[maybe_unused]] const auto heard = read(go[0], &letter, 1);
      _exit(0);
    }
    char letter = 0;
    REQUIRE(read(ready[0], &letter, 1) == 1);
    CHECK(letter == 'x');
    if (is_killed) waitpid(child, nullptr, 0);
    for (const int end : {ready[0], ready[1], go[0]}) close(end);
    return std::pair(child, go[1]);
  };
  const auto killed = in_child(true);
  close(killed.second);
  // two, what tells that it lives, a file that was not finished, and a folder
  CHECK(number_of_files() == others + 5);
  const auto [living, go] = in_child(false);
  CHECK(number_of_files() == others + 5);  // those of the second one
  const auto third = in_child(true);       // removes nothing of it
  close(third.second);
  CHECK(number_of_files() == others + 10);
  close(go);
  waitpid(living, nullptr, 0);
  remove_temporaries();
  REQUIRE(make_temporary() != "");
  CHECK(FileBeside::make("x.csv", 0666));
  remove_folder_aside(make_folder_aside(folder));
  remove_temporaries();
  CHECK(number_of_files() == others);
  unsetenv("SWIFT_TMP");
}

TEST_CASE("a name that somebody else has taken is passed over, and what is there stays") {
  const FreshFolder fresh;
  const std::string folder = std::filesystem::current_path().string();
  remove_temporaries();
  setenv("SWIFT_TMP", folder.c_str(), 1);
  const std::string first = make_temporary();
  const std::size_t number = first.rfind('_') + 1;
  const auto later = [&](int by) {
    return first.substr(0, number) + std::to_string(std::stoi(first.substr(number)) + by);
  };
  std::ofstream(later(1)) << "of somebody else";
  std::filesystem::create_symlink("nowhere", later(2));
  CHECK(make_temporary() == later(3));
  CHECK(std::filesystem::file_size(later(1)) == 16);
  CHECK_FALSE(std::filesystem::exists("nowhere"));

  const std::string aside = make_folder_aside(folder);
  remove_folder_aside(aside);
  const std::string base = std::filesystem::path(aside).parent_path().string();
  const int last = std::stoi(aside.substr(aside.rfind('/') + 1));
  const auto taken = [&](int by) { return base.substr(0, base.rfind('-') + 1) + std::to_string(last + by); };
  for (const int by : {1, 2}) std::filesystem::create_directory(taken(by));
  const std::string second = make_folder_aside(folder);
  CHECK(std::filesystem::path(second).parent_path() == taken(3));
  remove_folder_aside(second);
  for (const int by : {1, 2}) CHECK(std::filesystem::is_empty(taken(by)));
  remove_temporaries();
  unsetenv("SWIFT_TMP");
}

TEST_CASE("temporaries lie in SWIFT_TMP and stay with SWIFT_TMP_AUTODELETE=0") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "raddle_file_test";
  std::filesystem::create_directory(folder);
  setenv("SWIFT_TMP", folder.c_str(), 1);
  setenv("SWIFT_TMP_AUTODELETE", "0", 1);
  const std::string path = make_ref<File>()->path();
  unsetenv("SWIFT_TMP");
  unsetenv("SWIFT_TMP_AUTODELETE");
  CHECK(std::filesystem::path(path).parent_path() == folder);
  CHECK(std::filesystem::exists(path));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace raddle::vm
