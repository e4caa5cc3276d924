#include "vm/value/matching_paths.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/unit/fresh_folder.hpp"

using namespace raddle::vm;
using Paths = std::vector<std::string>;

TEST_CASE("what is there under the pattern's own name is that, and a sign behind a backslash is itself") {
  const FreshFolder folder;
  for (const char* name : {"ex[1]", "ex1", "{a,b}"}) std::filesystem::create_directory(name);
  for (const char* name : {"ex[1]/x.txt", "ex[1]/y.txt", "ex1/z.txt", "{a,b}/w*.txt", "{a,b}/wv.txt"})
    std::ofstream{name};
  CHECK(matching_paths("ex[1]/*.txt") == Paths{"ex[1]/x.txt", "ex[1]/y.txt"});
  CHECK(matching_paths("ex[1]/x.txt") == Paths{"ex[1]/x.txt"});
  CHECK(matching_paths(std::filesystem::current_path() / "ex[1]/[xq].txt") ==
        Paths{std::filesystem::current_path() / "ex[1]/x.txt"});
  CHECK(matching_paths("ex[12]/*") == Paths{"ex1/z.txt"});
  CHECK(matching_paths("ex\\[1\\]/*") == Paths{"ex[1]/x.txt", "ex[1]/y.txt"});
  CHECK(matching_paths("{a,b}/w*") == Paths{"{a,b}/w*.txt", "{a,b}/wv.txt"});
  CHECK(matching_paths("{a,b}/w*.txt") == Paths{"{a,b}/w*.txt"});
  CHECK(matching_paths("{a,b}/w?.txt") == Paths{"{a,b}/w*.txt", "{a,b}/wv.txt"});
  CHECK(matching_paths("\\{a,b\\}/w\\*.txt") == Paths{"{a,b}/w*.txt"});
  CHECK(matching_paths("{ex1,ex\\[1\\]}/*") == Paths{"ex1/z.txt", "ex[1]/x.txt", "ex[1]/y.txt"});
  CHECK(matching_paths("none*") == Paths{});
  CHECK(matching_paths("") == Paths{});
}
