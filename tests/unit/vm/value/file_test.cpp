#include "vm/value/file.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

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
