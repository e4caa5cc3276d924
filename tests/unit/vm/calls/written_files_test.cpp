#include "vm/calls/written_files.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace raddle::vm {
namespace {

using How = WrittenFiles::How;

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string path = (std::filesystem::temp_directory_path() / "written_XXXXXX").string();
    path_ = mkdtemp(path.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

CallPlace call(std::uint32_t begin) { return {{0, begin, begin + 1}, {}}; }

TEST_CASE("a second call that writes a file is refused, under any name of it") {
  const Folder folder;
  WrittenFiles files;
  const std::uint64_t run = files.add_run();
  REQUIRE(files.begin(run, {folder / "a", folder / "b"}, call(1), How::at_once));
  std::filesystem::create_directory_symlink(folder / ".", folder / "link");
  for (const char* name : {"a", "./a", "x/../b", "link/a"}) {
    const auto second = files.begin(run, {folder / "new", folder / name}, call(2), How::at_once);
    REQUIRE_FALSE(second);
    CHECK(second.error().mine.path == folder / name);
    CHECK(second.error().other.call == call(1));
  }
  CHECK(files.begin(run, {folder / "new"}, call(3), How::at_once));  // refused calls have begun nothing
}

TEST_CASE("links lead to one file, also before it is there") {
  const Folder folder;
  WrittenFiles files;
  const std::uint64_t run = files.add_run();
  std::filesystem::create_symlink("to_be", folder / "link");
  std::ofstream(folder / "first") << "text";
  std::filesystem::create_hard_link(folder / "first", folder / "second");
  REQUIRE(files.begin(run, {folder / "link", folder / "first"}, call(1), How::at_once));
  std::ofstream(folder / "to_be") << "text";
  CHECK_FALSE(files.begin(run, {folder / "to_be"}, call(2), How::at_once));
  CHECK_FALSE(files.begin(run, {folder / "link"}, call(2), How::at_once));
  CHECK_FALSE(files.begin(run, {folder / "second"}, call(2), How::at_once));
}

TEST_CASE("a link that is to be replaced is a file of its own") {
  const Folder folder;
  WrittenFiles files;
  const std::uint64_t run = files.add_run();
  std::ofstream(folder / "input") << "text";
  std::filesystem::create_symlink("input", folder / "link");
  REQUIRE(files.begin(run, {folder / "input"}, call(1), How::at_once));
  CHECK_FALSE(files.begin(run, {folder / "link"}, call(2), How::at_once));
  REQUIRE(files.begin(run, {WrittenFiles::Output(folder / "link", true)}, call(2), How::at_once));
  CHECK_FALSE(files.begin(run, {WrittenFiles::Output(folder / "./link", true)}, call(3), How::at_once));
}

TEST_CASE("a file that replaces what another call of its activation has written waits for its end") {
  const Folder folder;
  WrittenFiles files;
  const std::uint64_t run = files.add_run();
  const WrittenFiles::Output later(folder / "a", false, true);
  const auto begun = files.begin(run, {folder / "a"}, call(1), How::by_program);
  REQUIRE(begun);
  CHECK_FALSE(files.begin(run, {later}, call(2), How::at_once));  // two at once
  files.end(*begun);
  CHECK_FALSE(files.begin(run, {folder / "a"}, call(2), How::at_once));
  CHECK_FALSE(files.begin(run, {WrittenFiles::Output(folder / "a", false, true, 1)}, call(2), How::at_once));
  CHECK(files.begin(run, {later}, call(2), How::at_once));
}

TEST_CASE("activations of a series write a file one after the other, others do not") {
  const Folder folder;
  WrittenFiles files;
  const std::uint64_t run = files.add_run();
  const auto output = [&](std::uint64_t activation, std::uint64_t series) {
    return WrittenFiles::Output(folder / "a", false, false, activation, series);
  };
  const auto begun = files.begin(run, {output(1, 9)}, call(1), How::by_program);
  REQUIRE(begun);
  CHECK_FALSE(files.begin(run, {output(2, 9)}, call(1), How::at_once));  // two at once
  files.end(*begun);
  CHECK_FALSE(files.begin(run, {output(1, 9)}, call(2), How::at_once));  // a second call of one activation
  CHECK_FALSE(files.begin(run, {output(2, 8)}, call(1), How::at_once));
  CHECK_FALSE(files.begin(run, {output(2, 0)}, call(1), How::at_once));
  CHECK(files.begin(run, {output(2, 9)}, call(1), How::at_once));
  CHECK(files.begin(run, {output(3, 9)}, call(1), How::at_once));
}

TEST_CASE("one call may have a file twice; the next run may write it") {
  const Folder folder;
  WrittenFiles files;
  const std::uint64_t run = files.add_run(), next = files.add_run();
  const auto begun = files.begin(run, {folder / "a", folder / "./a"}, call(1), How::by_program);
  REQUIRE(begun);
  CHECK_FALSE(files.begin(next, {folder / "a"}, call(2), How::at_once));  // it is half-written
  files.end(*begun);
  CHECK_FALSE(files.begin(run, {folder / "a"}, call(2), How::at_once));
  CHECK(files.begin(next, {folder / "a"}, call(2), How::at_once));
  CHECK_FALSE(files.begin(run, {WrittenFiles::Output(folder / "a", false, true)}, call(3), How::at_once));  // too late
}

TEST_CASE("points of a sweep write files of their own, each as often as it is attempted") {
  const Folder folder;
  PointFiles points;
  for (int attempt = 0; attempt < 2; ++attempt) {
    WrittenFiles files(&points, 7);
    CHECK(files.begin(files.add_run(), {folder / "a"}, call(1), How::at_once));
  }
  WrittenFiles files(&points, 8);
  const auto second = files.begin(files.add_run(), {folder / "./a"}, call(1), How::at_once);
  REQUIRE_FALSE(second);
  CHECK(second.error().point == 7);
  CHECK(files.begin(files.add_run(), {folder / "b", std::string("/dev/null")}, call(1), How::at_once));
  CHECK(points.is_written(folder / "./b"));
  CHECK_FALSE(points.is_written(folder / "c"));
  CHECK_FALSE(points.is_written("/dev/null"));
}

TEST_CASE("what is given up may be written by another call") {
  const Folder folder;
  WrittenFiles files;
  const std::uint64_t run = files.add_run();
  const auto begun = files.begin(run, {folder / "a"}, call(1), How::at_once);
  REQUIRE(begun);
  files.give_up(*begun);
  CHECK(files.begin(run, {folder / "a"}, call(2), How::by_program));
}

TEST_CASE("devices and folders may be written by any number of calls") {
  const Folder folder;
  WrittenFiles files;
  const std::uint64_t run = files.add_run();
  for (const std::string& path : {std::string("/dev/null"), std::string("/dev/stdout"), folder / "."}) {
    CHECK(files.begin(run, {path}, call(1), How::by_program));
    CHECK(files.begin(run, {path}, call(2), How::by_program));
  }
}

TEST_CASE("what is half-written is removed, once") {
  const Folder folder;
  WrittenFiles files;
  const std::uint64_t run = files.add_run();
  for (const char* name : {"whole", "half"}) {
    std::ofstream(folder / name) << "text";
    const auto begun = files.begin(run, {folder / name}, call(1), How::by_program);
    REQUIRE(begun);
    if (std::string(name) == "whole") files.end(*begun);
  }
  files.remove_partial();
  CHECK(std::filesystem::exists(folder / "whole"));
  CHECK_FALSE(std::filesystem::exists(folder / "half"));
  std::ofstream(folder / "half") << "text";
  files.remove_partial();
  CHECK(std::filesystem::exists(folder / "half"));
}

}  // namespace
}  // namespace raddle::vm
