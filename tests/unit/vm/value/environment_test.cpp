#include "vm/value/environment.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <thread>

using namespace raddle::vm;

namespace {

bool has(const std::vector<char*>& entries, std::string_view wanted) {
  for (const char* const entry : entries)
    if (entry == wanted) return true;
  return false;
}

}  // namespace

TEST_CASE("a folder of the environment is an absolute path or none") {
  setenv("RADDLE_TEST_FOLDER", "/some/where", 1);
  CHECK(environment_path("RADDLE_TEST_FOLDER") == "/some/where");
  setenv("RADDLE_TEST_FOLDER", "some/where", 1);
  CHECK(environment_path("RADDLE_TEST_FOLDER").empty());
  unsetenv("RADDLE_TEST_FOLDER");
  CHECK(environment_path("RADDLE_TEST_FOLDER").empty());
}

TEST_CASE("an action finds one more variable, which is gone after it") {
  setenv("RADDLE_TEST_KEPT", "1", 1);
  std::string seen, kept;
  with_variable("RADDLE_TEST_MORE=text", [&] {
    seen = std::getenv("RADDLE_TEST_MORE");
    kept = std::getenv("RADDLE_TEST_KEPT");
  });
  CHECK(seen == "text");
  CHECK(kept == "1");
  CHECK(std::getenv("RADDLE_TEST_MORE") == nullptr);
  CHECK(has(environment(), "RADDLE_TEST_KEPT=1"));
  unsetenv("RADDLE_TEST_KEPT");
  CHECK_FALSE(has(environment(), "RADDLE_TEST_KEPT=1"));
}

TEST_CASE("whoever starts a program meanwhile takes no variable that is there for a moment") {
  std::atomic<bool> is_ended = false;
  std::atomic<int> found = 0;
  std::thread reader([&] {
    while (!is_ended) found += has(environment(), "RADDLE_TEST_MOMENT=1");
  });
  int set = 0;
  for (int k = 0; k < 100; ++k)
    with_variable("RADDLE_TEST_MOMENT=1", [&] { set += std::getenv("RADDLE_TEST_MOMENT") != nullptr; });
  is_ended = true;
  reader.join();
  CHECK(set == 100);
  CHECK(found == 0);
}
