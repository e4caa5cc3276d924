#include "compiler/terminal/history.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

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

TEST_CASE("a file that can not be written is no error") {
  History history("/proc/nowhere/history");
  history.add("one");
  CHECK(history.entries().size() == 1);
}
