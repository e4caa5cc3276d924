#include "vm/memory/mapped_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace raddle::vm {
namespace {

struct TestFile {
  TestFile() { std::ofstream(path) << "numbers"; }
  ~TestFile() { std::filesystem::remove(path); }
  std::unique_ptr<MappedFile> map() const {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::unique_ptr<MappedFile> mapped = MappedFile::make(file, path);
    close(file);
    return mapped;
  }
  /// Other cases run at the same time, each in a process of its own.
  const std::string path =
      (std::filesystem::temp_directory_path() / ("raddle-mapped-file-test." + std::to_string(getpid()))).string();
};

}  // namespace

TEST_CASE("mapped file: who writes to its bytes leaves the file as it is") {
  const TestFile file;
  const std::unique_ptr<MappedFile> mapped = file.map();
  REQUIRE(mapped);
  mapped->data()[0] = std::byte{'N'};
  std::string found;
  std::ifstream(file.path) >> found;
  CHECK(found == "numbers");
  CHECK(take_changed_files().empty());
}

TEST_CASE("mapped file: of one that others write to is told once, also when it is mapped no more") {
  const TestFile file;
  {
    const std::unique_ptr<MappedFile> mapped = file.map();
    REQUIRE(mapped);
    std::ofstream(file.path, std::ios::app) << "more";
  }
  CHECK(take_changed_files() == std::vector<std::string>{file.path});
  CHECK(take_changed_files().empty());
}

TEST_CASE("mapped file: another one that takes its name is nothing to tell of") {
  const TestFile file;
  const std::unique_ptr<MappedFile> mapped = file.map();
  REQUIRE(mapped);
  std::ofstream(file.path + "2") << "others";
  std::filesystem::rename(file.path + "2", file.path);
  CHECK(take_changed_files().empty());
  CHECK(static_cast<char>(mapped->data()[0]) == 'n');
}

TEST_CASE("mapped file: what is empty is not mapped, and a fault elsewhere is about none") {
  const TestFile file;
  std::ofstream(file.path, std::ios::trunc);
  CHECK(file.map() == nullptr);
  siginfo_t info{};
  info.si_code = BUS_ADRERR;
  info.si_addr = &info;
  CHECK(lost_file(SIGBUS, info) == nullptr);
  CHECK(lost_file(SIGSEGV, info) == nullptr);
}

}  // namespace raddle::vm
