#include "vm/record/point_claims.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "tests/unit/fresh_folder.hpp"
#include "vm/record/record_folder.hpp"

using namespace raddle::vm;

TEST_CASE("a point is one run's until the claim is given back") {
  const FreshFolder folder;
  make_record_folder();
  const PointClaims one, two;
  PointClaim claim = one.claim(PointKey{1, 7});
  REQUIRE(claim);
  CHECK(!two.claim(PointKey{1, 7}));
  CHECK(two.claim(PointKey{1, 8}));
  CHECK(two.claim(PointKey{1, 7 + (std::uint64_t{1} << 61)}));
  const PointClaim copy = claim;
  claim = nullptr;
  CHECK(!two.claim(PointKey{1, 7}));
}

TEST_CASE("blocks are claimed by their numbers") {
  const FreshFolder folder;
  make_record_folder();
  const PointClaims one, two;
  {
    const PointClaim claim = one.claim(77, 10, 20);
    CHECK(!two.claim(77, 20, 30));
    CHECK(!two.claim(77, 1, 10));
    CHECK(two.claim(77, 21, 30));
    CHECK(two.claim(78 + (std::uint64_t{1} << 60), 10, 20));
    CHECK(two.claim(~std::uint64_t{0}, 1, 20));
  }
  CHECK(two.claim(77, 20, 30));
}

TEST_CASE("runs know of those that were there, and of those that have begun since") {
  const FreshFolder folder;
  make_record_folder();
  const PointClaims first;
  CHECK(!first.has_others());
  {
    const PointClaims second;
    CHECK(second.has_others());
  }
  CHECK(first.has_others());
}

TEST_CASE("a claim is gone with its process") {
  const FreshFolder folder;
  make_record_folder();
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const PointClaims claims;
    const PointClaim claim = claims.claim(PointKey{1, 7});
    [[maybe_unused]] const auto written = write(ready[1], "x", 1);
    for (;;) pause();
  }
  char letter = 0;
  REQUIRE(read(ready[0], &letter, 1) == 1);
  const PointClaims own;
  CHECK(own.has_others());
  CHECK(!own.claim(PointKey{1, 7}));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(own.claim(PointKey{1, 7}));
  for (const int end : ready) close(end);
}

TEST_CASE("where nothing can be locked nothing keeps runs apart") {
  const FreshFolder folder;
  const PointClaims one, two;
  const PointClaim claim = one.claim(PointKey{1, 7});
  CHECK(claim);
  CHECK(two.claim(PointKey{1, 7}));
  CHECK(!one.has_others());
}
