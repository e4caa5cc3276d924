#include "vm/record/file_version.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tests/unit/fresh_folder.hpp"
#include "vm/record/kept_files.hpp"
#include "vm/value/file_descriptor.hpp"

using namespace raddle::vm;

TEST_CASE("what is no regular file is known by its kind, and nothing is read of it") {
  const FreshFolder folder;
  KeptFiles files;
  std::ofstream("file") << "text";
  std::filesystem::create_directory("folder");
  REQUIRE(mkfifo("fifo", 0600) == 0);  // who opened it would wait
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strcpy(address.sun_path, "socket");
  REQUIRE(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  std::filesystem::create_symlink("nowhere", "dangling");

  std::set<std::string> versions;
  for (const char* name : {"file", "folder", "fifo", "socket", "/dev/null", "missing"}) {
    versions.insert(file_version(files, name));
    CHECK(file_version(files, name) == file_version(files, name));
  }
  CHECK(versions.size() == 6);
  CHECK(file_version(files, "missing") == "no file");
  CHECK(file_version(files, "dangling") == "no file");
  CHECK(file_version(files, "file/below") == "no file");
  CHECK(file_version(files, "file").starts_with("4-"));
  for (const char* name : {"folder", "fifo", "socket"}) {
    CHECK(file_version(files, name).starts_with("no regular file"));
    const std::string link = std::string("link to ") + name;
    std::filesystem::create_symlink(name, link);
    CHECK(file_version(files, link) == file_version(files, name));
  }
  const std::string before = file_version(files, "folder");
  std::ofstream("folder/new") << "text";
  CHECK(file_version(files, "folder") == before);
}
