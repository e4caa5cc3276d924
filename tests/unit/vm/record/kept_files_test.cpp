#include "vm/record/kept_files.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/fresh_folder.hpp"

using namespace raddle::vm;

namespace {

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("content is kept under its name and given back to any path") {
  const FreshFolder folder;
  KeptFiles files;
  write("a", "some text");
  const auto name = files.keep("a", {});
  REQUIRE(name);
  CHECK(name->starts_with("9-"));
  CHECK(files.name_of("a") == *name);
  CHECK(files.restore(*name, "new/folder/b"));
  CHECK(read("new/folder/b") == "some text");
  write("c", "another text, which goes");
  CHECK(files.restore(*name, "c"));
  CHECK(read("c") == "some text");
}

TEST_CASE("a file that is given back keeps its permissions, a program is one, and a link stays one") {
  const FreshFolder folder;
  KeptFiles files;
  namespace fs = std::filesystem;
  constexpr fs::perms own = fs::perms::owner_read | fs::perms::owner_write, all = fs::perms::all;
  write("a", "some text");
  write("b", "another");
  fs::permissions("b", own);
  fs::create_symlink("b", "link");
  CHECK(files.restore(*files.keep("a", {}), "link"));
  CHECK(fs::is_symlink("link"));
  CHECK(read("b") == "some text");
  CHECK(fs::status("b").permissions() == own);
  write("program", "#!/bin/sh");
  fs::permissions("program", all);
  CHECK(files.restore(*files.keep("program", {}), "b"));
  CHECK((fs::status("b").permissions() & (own | fs::perms::owner_exec)) == (own | fs::perms::owner_exec));
  CHECK((fs::status("b").permissions() & fs::perms::others_read) == fs::perms::none);
}

TEST_CASE("content is kept of the file that was written, not of one that took its place") {
  const FreshFolder folder;
  KeptFiles files;
  write("a", "first");
  const auto written = identity_of(std::string("a"));
  REQUIRE(written);
  CHECK(files.keep("a", written));
  write("other", "later");
  std::filesystem::rename("other", "a");
  CHECK(files.keep("a", written).error() == "it was changed after it was written");
  CHECK(files.keep("a", {}));
}

TEST_CASE("names tell contents apart, whatever their size") {
  const FreshFolder folder;
  KeptFiles files;
  const std::string mebibyte(std::size_t{1} << 20, 'x');
  write("empty", "");
  write("one", mebibyte);
  write("more", mebibyte + "y");
  write("other", mebibyte + "z");
  CHECK(files.name_of("empty")->starts_with("0-"));
  CHECK(files.name_of("one") != files.name_of("more"));
  CHECK(files.name_of("more") != files.name_of("other"));
  const auto name = files.keep("more", {});
  REQUIRE(name);
  CHECK(files.restore(*name, "again"));
  CHECK(files.name_of("again") == *name);
}

TEST_CASE("content that is not what its name says is none") {
  const FreshFolder folder;
  KeptFiles files;
  write("a", "some text");
  const std::string name = *files.keep("a", {});
  write(std::string(kept_files_folder) + "/" + name, "some test");
  CHECK_FALSE(files.restore(name, "b"));
  CHECK_FALSE(std::filesystem::exists("b"));
  write("b", "what was there");
  CHECK_FALSE(files.restore("3-00", "b"));
  CHECK(read("b") == "what was there");
}

TEST_CASE("what is no regular file is not kept") {
  const FreshFolder folder;
  KeptFiles files;
  CHECK(files.keep(".", {}).error() == "it is no regular file");
  CHECK_FALSE(files.keep("nothing", {}));
  CHECK(files.name_of("/dev/null").error() == "it is no regular file");
}
