#include "compiler/tool/terminal/history.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace raddle::terminal;

namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("raddle_history_test_" + std::to_string(getpid()));
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file() const { return path / "state" / "history"; }
};

}  // namespace

TEST_CASE("entries are read again, with their lines") {
  const Folder folder;
  const std::vector<std::string> entries = {"one", "two\nlines \\n not here", "three"};
  {
    History history(folder.file());
    for (const std::string& entry : entries) history.add(entry);
    history.add("three");  // as the last one
    history.add("");
  }
  CHECK(History(folder.file()).entries() == entries);
}

TEST_CASE("only so many are kept") {
  const Folder folder;
  {
    History history(folder.file());
    for (std::size_t i = 0; i < 2 * History::most_kept; ++i) history.add(std::to_string(i));
  }
  History history(folder.file());
  CHECK(history.entries().size() == History::most_kept);
  CHECK(history.entries().back() == std::to_string(2 * History::most_kept - 1));
}

TEST_CASE("a history that does not fit on the disk stays as it was") {
  const Folder folder;
  {
    History history(folder.file());
    for (std::size_t i = 0; i < 2 * History::most_kept; ++i) history.add(std::to_string(i));
  }
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto heard = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  { const History history(folder.file()); }  // can not shorten it
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, heard);
  std::ifstream file(folder.file());
  std::string first;
  std::getline(file, first);
  CHECK(first == "0");
}

TEST_CASE("a file that can not be written is no error") {
  History history("/proc/nowhere/history");
  history.add("one");
  CHECK(history.entries().size() == 1);
}
