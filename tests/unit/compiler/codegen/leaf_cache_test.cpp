#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compiler/codegen/leaf_cache.hpp"
#include "tests/unit/compiler/codegen/temporary_folder.hpp"

namespace raddle::codegen {
namespace {

namespace files = std::filesystem;

using Found = std::optional<std::string>;

/// The one file of a folder.
files::path only_file(const std::string& folder) {
  files::directory_iterator entries(folder);
  REQUIRE(entries != files::directory_iterator());
  const files::path found = entries->path();
  REQUIRE(++entries == files::directory_iterator());
  return found;
}

std::string read(const files::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void write(const files::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
}

std::uint64_t total_bytes(const std::string& folder) {
  std::uint64_t total = 0;
  for (const auto& entry : files::directory_iterator(folder)) total += entry.file_size();
  return total;
}

/// Of keys that are stored one after the other some make the cache look at its size: 100 are enough, by far.
constexpr int many = 100;
std::string numbered(int number) { return "leaf " + std::to_string(number); }

}  // namespace

TEST_CASE("what is stored under a key is found under it, in another cache of that folder, too") {
  const TemporaryFolder folder;
  LeafCache cache(folder / "made/on/the/way");
  REQUIRE(cache.is_usable());
  CHECK(cache.find("a") == std::nullopt);
  cache.store("a", "code of a");
  cache.store("b", "");
  CHECK(LeafCache(folder / "made/on/the/way").find("a") == Found("code of a"));
  CHECK(cache.find("b") == Found(""));
  cache.store("a", "other code");
  CHECK(cache.find("a") == Found("other code"));
}

TEST_CASE("only the user may read what is stored") {
  const TemporaryFolder folder;
  LeafCache cache(folder / "jit");
  cache.store("a", "code");
  CHECK(files::status(folder / "jit").permissions() == files::perms::owner_all);
  CHECK(files::status(only_file(folder / "jit")).permissions() ==
        (files::perms::owner_read | files::perms::owner_write));
}

TEST_CASE("a file with a single changed byte, a shorter or a longer one is not taken, and is replaced") {
  const TemporaryFolder folder;
  LeafCache cache(folder / "jit");
  cache.store("key", "code");
  const files::path file = only_file(folder / "jit");
  const std::string whole = read(file);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write(file, damaged);
    CHECK(cache.find("key") == std::nullopt);
    write(file, whole.substr(0, i));
    CHECK(cache.find("key") == std::nullopt);
  }
  write(file, whole + "x");
  CHECK(cache.find("key") == std::nullopt);
  cache.store("key", "code");
  CHECK(cache.find("key") == Found("code"));
}

TEST_CASE("the file of another key is not taken, even if it has the name") {
  const TemporaryFolder folder;
  LeafCache cache(folder / "jit");
  cache.store("one key", "code");
  const files::path one = only_file(folder / "jit");
  const std::string bytes = read(one);
  files::remove(one);
  cache.store("another", "other code");
  write(only_file(folder / "jit"), bytes);
  CHECK(cache.find("another") == std::nullopt);
}

TEST_CASE("a file or a folder that others may write is not trusted, nor is a link") {
  const TemporaryFolder folder;
  LeafCache cache(folder / "jit");
  cache.store("key", "code");
  const files::path file = only_file(folder / "jit");
  for (const mode_t mode : {S_IWGRP, S_IWOTH}) {
    chmod(file.c_str(), S_IRUSR | S_IWUSR | mode);
    CHECK(cache.find("key") == std::nullopt);
    chmod((folder / "jit").c_str(), S_IRWXU | mode);
    CHECK_FALSE(LeafCache(folder / "jit").is_usable());
  }
  chmod((folder / "jit").c_str(), S_IRWXU);
  chmod(file.c_str(), S_IRUSR | S_IWUSR);
  CHECK(cache.find("key") == Found("code"));
  files::rename(file, folder / "elsewhere");
  files::create_symlink(folder / "elsewhere", file);
  CHECK(cache.find("key") == std::nullopt);
  cache.store("key", "new code");
  CHECK(cache.find("key") == Found("new code"));
}

TEST_CASE("a file or a folder of somebody else is not trusted") {
  if (geteuid() != 0) return;  // only root can give files away
  const TemporaryFolder folder;
  LeafCache cache(folder / "jit");
  cache.store("key", "code");
  constexpr uid_t somebody = 65534;
  REQUIRE(chown(only_file(folder / "jit").c_str(), somebody, static_cast<gid_t>(-1)) == 0);
  CHECK(cache.find("key") == std::nullopt);
  REQUIRE(chown((folder / "jit").c_str(), somebody, static_cast<gid_t>(-1)) == 0);
  CHECK_FALSE(LeafCache(folder / "jit").is_usable());
}

TEST_CASE("a folder that can not be made or written keeps nothing, and nothing happens") {
  const TemporaryFolder folder;
  write(folder / "file", "no folder");
  for (const std::string& path :
       {std::string(), folder / "file", folder / "file/jit", std::string("/proc/raddle/jit")}) {
    LeafCache cache(path);
    CHECK_FALSE(cache.is_usable());
    cache.store("key", "code");
    CHECK(cache.find("key") == std::nullopt);
  }
  LeafCache removed(folder / "jit");
  files::remove(folder / "jit");
  removed.store("key", "code");
  CHECK(removed.find("key") == std::nullopt);
}

TEST_CASE("the cache is bounded: those go that nobody has asked for longest") {
  const TemporaryFolder folder;
  constexpr std::uint64_t most_bytes = 64 << 10;
  LeafCache cache(folder / "jit", most_bytes);
  for (int i = 0; i < many; ++i) {
    cache.store(numbered(i), std::string(4000, 'x'));
    for (const auto& entry : files::directory_iterator(folder / "jit"))  // an hour goes by
      files::last_write_time(entry, entry.last_write_time() - std::chrono::hours(1));
    if (i > 0) cache.find(numbered(0));
  }
  CHECK(total_bytes(folder / "jit") < 4 * most_bytes);
  CHECK(cache.find(numbered(0)).has_value());  // asked for each hour
  CHECK(cache.find(numbered(many - 1)).has_value());
  CHECK_FALSE(cache.find(numbered(1)).has_value());
}

TEST_CASE("what a run has left behind that did not come to its end goes, what is not the cache's stays") {
  const TemporaryFolder folder;
  LeafCache cache(folder / "jit");
  write(folder / "jit/left_behind.tmp", "half");
  write(folder / "jit/in_work.tmp", "half");
  write(folder / "jit/notes", "the user's");
  files::last_write_time(folder / "jit/left_behind.tmp", files::file_time_type::clock::now() - std::chrono::hours(2));
  for (int i = 0; i < many; ++i) cache.store(numbered(i), "");
  CHECK_FALSE(files::exists(folder / "jit/left_behind.tmp"));
  CHECK(files::exists(folder / "jit/in_work.tmp"));
  CHECK(files::exists(folder / "jit/notes"));
}

TEST_CASE("runs share a folder: whatever is found is whole") {
  const TemporaryFolder folder;
  const auto content = [](int writer, int key) {
    return std::string(static_cast<std::size_t>(1000 * (writer + 1)), static_cast<char>('a' + key));
  };
  const auto run = [&](int writer) {
    LeafCache cache(folder / "jit", 32 << 10);
    for (int i = 0; i < 300; ++i) {
      const int key = i % 10;
      const Found found = cache.find(numbered(key));
      const bool is_whole = !found || *found == content(0, key) || *found == content(1, key) ||
                            *found == content(2, key) || *found == content(3, key);
      CHECK(is_whole);
      cache.store(numbered(key), content(writer, key));
    }
  };
  std::vector<std::jthread> runs;
  for (int writer = 0; writer < 4; ++writer) runs.emplace_back(run, writer);
  runs.clear();
  for (const auto& entry : files::directory_iterator(folder / "jit")) CHECK(entry.path().extension() == ".leaf");
}

TEST_CASE("the folder is $XDG_CACHE_HOME/raddle/jit, else that in ~/.cache") {
  const auto kept = [](const char* name) { return std::getenv(name) ? Found(std::getenv(name)) : std::nullopt; };
  const auto set = [](const char* name, const Found& value) {
    value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  };
  const Found cache = kept("XDG_CACHE_HOME"), home = kept("HOME");
  set("HOME", "/home/me");
  set("XDG_CACHE_HOME", "/tmp/cache");
  CHECK(default_cache_folder() == "/tmp/cache/raddle/jit");
  for (const Found& no_path : {Found(), Found(""), Found("relative")}) {
    set("XDG_CACHE_HOME", no_path);
    CHECK(default_cache_folder() == "/home/me/.cache/raddle/jit");
  }
  set("HOME", std::nullopt);
  CHECK(default_cache_folder() == "");
  CHECK(usable_cubin_folder() == "");
  const TemporaryFolder folder;
  set("XDG_CACHE_HOME", folder / "cache");
  CHECK(usable_cubin_folder() == folder / "cache/raddle/cubins");
  CHECK(files::is_directory(folder / "cache/raddle/cubins"));
  files::permissions(folder / "cache/raddle/cubins", files::perms::all);  // others may write it
  CHECK(usable_cubin_folder() == "");
  set("XDG_CACHE_HOME", cache);
  set("HOME", home);
}

}  // namespace raddle::codegen
