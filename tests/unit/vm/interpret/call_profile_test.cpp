#include "vm/interpret/call_profile.hpp"

#include <doctest/doctest.h>

namespace raddle::vm {

namespace {

constexpr std::int64_t long_ns = 10 * CallProfile::least_shared_ns;

/// @return how often calls that take `ns` are to be noted until the profile says so
int notes_until(CallProfile& profile, bool is_short, std::int64_t ns) {
  int notes = 0;
  while (profile.is_short() != is_short && notes < 1000) {
    profile.note(ns);
    ++notes;
  }
  return notes;
}

}  // namespace

TEST_CASE("calls are shared until it is known that they are short") {
  CallProfile profile;
  CHECK(!profile.is_short());
  profile.note(200);
  CHECK(profile.is_short());
  CallProfile of_long_calls;
  of_long_calls.note(long_ns);
  CHECK(!of_long_calls.is_short());
}

TEST_CASE("one call that was interrupted says little, several long ones do") {
  CallProfile profile;
  profile.note(200);
  profile.note(100 * long_ns);
  CHECK(profile.is_short());
  CHECK(notes_until(profile, false, long_ns) == 1);
}

TEST_CASE("long calls that become short are noticed, little by little") {
  CallProfile profile;
  profile.note(long_ns);
  const int notes = notes_until(profile, true, 200);
  CHECK(notes > 8);
  CHECK(notes < 40);
  CHECK(notes_until(profile, false, long_ns) == 1);
}

TEST_CASE("a call that takes no time that the clock could tell is known to be short") {
  CallProfile profile;
  profile.note(0);
  CHECK(profile.is_short());
  CHECK(notes_until(profile, false, long_ns) < 10);
}

}  // namespace raddle::vm
