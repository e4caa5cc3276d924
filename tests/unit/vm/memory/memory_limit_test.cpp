#include "vm/memory/memory_limit.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace raddle::vm {

TEST_CASE("the limit of a control group is the least of it and of those it is in") {
  const std::filesystem::path groups =
      std::filesystem::temp_directory_path() / fmt::format("raddle-groups-{}", getpid());
  std::filesystem::create_directories(groups / "a/b");
  std::ofstream(groups / "a/memory.max") << "4096\n";
  std::ofstream(groups / "a/b/memory.max") << "max\n";
  CHECK(control_group_limit(groups, "/a/b") == 4096);
  CHECK(control_group_limit(groups, "/a") == 4096);
  CHECK(control_group_limit(groups, "/") == SIZE_MAX);
  CHECK(control_group_limit(groups, "/gone/b") == SIZE_MAX);
  std::ofstream(groups / "a/b/memory.max") << "1000\n";
  CHECK(control_group_limit(groups, "/a/b") == 1000);
  std::ofstream(groups / "memory.max") << "10\n";
  CHECK(control_group_limit(groups, "/a/b") == 10);
  std::filesystem::remove_all(groups);
}

TEST_CASE("half of the memory is the most for one thing") {
  CHECK(memory_limit_bytes() > 0);
  CHECK(fits_in_memory(1000));
  CHECK(!fits_in_memory(static_cast<double>(memory_limit_bytes()) * 0.6));
}

}  // namespace raddle::vm
