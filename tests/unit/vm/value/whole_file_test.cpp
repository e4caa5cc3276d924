#include "vm/value/whole_file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/fresh_folder.hpp"
#include "vm/value/file_descriptor.hpp"

using namespace raddle::vm;
namespace fs = std::filesystem;

namespace {

auto text(const std::string& bytes) {
  return [bytes](int fd) { return write_all(fd, bytes); };
}

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a file is replaced when the new one is whole, and stays where it can not be") {
  const FreshFolder folder;
  const auto first = write_whole("new/a", 0666, text("first"));
  REQUIRE(first);
  CHECK(*first == identity_of(std::string("new/a")));
  std::ifstream reader("new/a");
  const auto failed = write_whole("new/a", 0666, [](int fd) { return write_all(fd, "half"), ENOSPC; });
  REQUIRE_FALSE(failed);
  CHECK(failed.error() == ENOSPC);
  CHECK(read("new/a") == "first");
  REQUIRE(write_whole("new/a", 0666, text("second")));
  CHECK(read("new/a") == "second");
  CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) == "first");  // whoever has it open keeps it
  CHECK(std::distance(fs::directory_iterator("new"), fs::directory_iterator()) == 1);
}

TEST_CASE("a link stays one, and a device gets what there is") {
  const FreshFolder folder;
  std::ofstream("there") << "old";
  fs::create_symlink("there", "link");
  fs::create_symlink("later", "dangling");
  REQUIRE(write_whole("link", 0666, text("new")));
  REQUIRE(write_whole("dangling", 0666, text("made")));
  CHECK(fs::is_symlink("link"));
  CHECK(read("there") == "new");
  CHECK(read("later") == "made");
  const auto device = write_whole("/dev/null", 0666, text("gone"));
  REQUIRE(device);
  CHECK_FALSE(*device);
  CHECK(write_whole(".", 0666, text("")).error() == EISDIR);
}
