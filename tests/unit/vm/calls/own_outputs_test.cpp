#include "vm/calls/own_outputs.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/fresh_folder.hpp"

using namespace raddle::vm;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("what a program has made is moved to its place under its own name, with what lies beside it") {
  const FreshFolder folder;
  fs::create_directories("out/map_files");
  write("out/map.shp", "of an earlier run");
  write("out/map_files/old", "");
  OwnOutputs own;
  REQUIRE(own.add("out/map.shp"));
  const fs::path aside = own.now("out/map.shp");
  CHECK(aside.filename() == "map.shp");
  CHECK(aside.parent_path().parent_path().parent_path() == "out");
  write(aside, "new");
  write(aside.parent_path() / "map.dbf", "beside");
  fs::create_directories(aside.parent_path() / "map_files");
  write(aside.parent_path() / "map_files/new", "");
  CHECK(read("out/map.shp") == "of an earlier run");
  CHECK(own.place().empty());
  CHECK(own.now("out/map.shp") == "out/map.shp");
  CHECK(read("out/map.shp") == "new");
  CHECK(own.identity("out/map.shp") == identity_of(std::string("out/map.shp")));
  CHECK(read("out/map.dbf") == "beside");
  CHECK(entries("out/map_files") == 2);
  CHECK(entries("out") == 3);
}

TEST_CASE("what was not placed is removed") {
  const FreshFolder folder;
  {
    OwnOutputs own;
    REQUIRE(own.add("a.txt"));
    write(own.now("a.txt"), "half");
    own.clear();
    CHECK_FALSE(fs::exists(own.now("a.txt")));
    write(own.now("a.txt"), "half");
  }
  CHECK(fs::is_empty("."));
}

TEST_CASE("a link stays one, also one to a file that is not there yet") {
  const FreshFolder folder;
  fs::create_directory("data");
  write("data/there", "old");
  fs::create_symlink("data/there", "one");
  fs::create_symlink("data/later", "two");
  OwnOutputs own;
  for (const char* name : {"one", "two"}) {
    REQUIRE(own.add(name));
    write(own.now(name), name);
  }
  CHECK(own.place().empty());
  CHECK(fs::is_symlink("one"));
  CHECK(fs::is_symlink("two"));
  CHECK(read("data/there") == "one");
  CHECK(read("data/later") == "two");
}

TEST_CASE("a file under two names of one call is one file") {
  const FreshFolder folder;
  OwnOutputs own;
  REQUIRE(own.add("both"));
  REQUIRE(own.add("./both"));
  CHECK(own.now("both") == own.now("./both"));
}

TEST_CASE("folders, devices and what has no folder are written where they are") {
  const FreshFolder folder;
  fs::create_directory("there");
  OwnOutputs own;
  for (const char* name : {"there", "there/", "new/", "/dev/null", "/dev/stdout", "nowhere/a", "there/.."}) {
    CAPTURE(name);
    CHECK_FALSE(own.add(name));
    CHECK(own.now(name) == name);
  }
}
