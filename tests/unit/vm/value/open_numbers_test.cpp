#include "vm/value/open_numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace raddle::vm {

TEST_CASE("open numbers: each is claimed once, and what is given back may be claimed again") {
  OpenNumbers open(ValueKind::int_, 200);
  CHECK(open.claim(0, 130) == 130);
  CHECK(open.claim(0, 1) == 0);
  CHECK(open.claim(100, 60) == 0);
  CHECK(open.claim(190, 50) == 10);  // there are no more
  CHECK(open.claim(-1, 3) == 0);
  CHECK(open.claim(200, 1) == 0);
  CHECK(open.claim(120, 0) == 0);
  open.give_back(60, 10);
  CHECK(open.claim(55, 20) == 0);
  CHECK(open.claim(60, 20) == 10);  // up to the next one that is claimed
  CHECK(open.claim(130, 70) == 60);
  for (std::int64_t key = 0; key < 200; ++key) CHECK(open.claim(key, 1) == 0);
}

TEST_CASE("open numbers: a claim that meets another one keeps nothing behind it") {
  OpenNumbers open(ValueKind::float_, 64);
  CHECK(open.claim(10, 1) == 1);
  CHECK(open.claim(20, 1) == 1);
  CHECK(open.claim(5, 50) == 5);
  CHECK(open.claim(11, 50) == 9);
  CHECK(open.claim(21, 50) == 43);
}

TEST_CASE("open numbers: how many of them follow each other") {
  OpenNumbers open(ValueKind::boolean, 300);
  CHECK(open.written_from(0, 300) == 0);  // no memory yet
  open.set_written({3, 197});
  CHECK(open.written_from(0, 300) == 0);
  CHECK(open.written_from(3, 300) == 197);
  CHECK(open.written_from(64, 64) == 64);
  CHECK(open.written_from(199, 9) == 1);
  CHECK(open.written_from(200, 9) == 0);
  CHECK(open.written_from(-3, 9) == 0);
  CHECK(open.is_written(3));
  CHECK_FALSE(open.is_written(2));
  CHECK(open.written_count() == 197);
  open.set_written({200, 100});
  CHECK(open.written_from(250, 999) == 50);
}

TEST_CASE("open numbers: one launch claims none, and may write all at once") {
  OpenNumbers open(ValueKind::float_, 100);
  open.give_to_one();
  CHECK(open.claim(0, 100) == 100);
  CHECK(open.claim(90, 20) == 10);
  open.give_back(0, 100);
  CHECK(open.storage() == nullptr);
  *static_cast<double*>(open.numbers().at_index(99)) = 2.5;
  CHECK_FALSE(open.is_written(99));
  open.set_written({0, 100});
  CHECK(open.written_from(10, 1000) == 90);
  CHECK(open.at(99).as_float() == 2.5);
  CHECK(open.written_count() == 100);
}

TEST_CASE("open numbers: they are promised once as many are as there are") {
  OpenNumbers open(ValueKind::int_, 5);
  CHECK_FALSE(open.is_promised());
  open.promise(2);
  CHECK_FALSE(open.is_promised());
  open.promise(3);
  CHECK(open.is_promised());
  CHECK(OpenNumbers(ValueKind::int_, 0).is_promised());
}

TEST_CASE("bits of numbers: pages that go when all is there are known as before") {
  constexpr std::size_t count = 3 * 32768 + 100;
  NumberBits bits(count, /*is_bounded=*/true);
  CHECK(bits.claim(0, count) == count);
  CHECK(bits.written_from(0, count) == 0);
  bits.set_written(40000, 40000);  // ends in the second page and the third one
  CHECK(bits.written_from(40000, count - 40000) == 40000);
  bits.set_written(0, 32768);
  CHECK(bits.written_from(0, count) == 32768);
  bits.set_written(32768, 40000 - 32768);
  CHECK(bits.written_from(0, count) == 80000);
  CHECK(bits.written_from(65535, 2) == 2);
  CHECK(bits.claim(10, 5) == 0);
  CHECK(bits.claim(65536, 1) == 0);
  bits.set_written(80000, count - 80000);
  CHECK(bits.written_from(3, count - 3) == count - 3);
  CHECK(bits.claim(count - 1, 1) == 0);
}

TEST_CASE("bits of numbers: threads that write and look") {
  constexpr std::size_t count = 4 * 32768, part = 1000;
  NumberBits bits(count, /*is_bounded=*/true);
  std::atomic<std::size_t> next{0}, twice{0}, lost{0};
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 4; ++i)
      all.emplace_back([&] {
        for (std::size_t first; (first = next.fetch_add(part)) < count;) {
          const std::size_t here = std::min(part, count - first);
          if (bits.claim(first, here) != here) ++lost;
          bits.set_written(first, here);
          if (bits.written_from(first, here) != here) ++lost;
          if (bits.claim(first + here / 2, 1) != 0) ++twice;
        }
      });
  }
  CHECK(twice == 0);
  CHECK(lost == 0);
  CHECK(bits.written_from(0, count) == count);
}

TEST_CASE("rows are claimed up to the one of which a number is claimed already") {
  OpenNumbers open(ValueKind::float_, 400);
  const NumberRows rows{7, 30, 5, 70};
  CHECK(rows.count() == 150);
  CHECK(open.claim(230, 1) == 1);  // of the fourth row
  CHECK(open.claim_rows(rows) == 3);
  CHECK(open.claim(6, 2) == 1);
  CHECK(open.claim(217, 40) == 13);  // the fourth row itself was given back
  open.give_back(217, 13);
  open.set_written(rows.up_to(2));
  open.give_back_rows(rows.up_to(3).from(2));
  CHECK(open.written_count() == 60);
  CHECK(open.written_from(7, 100) == 30);
  CHECK(open.written_from(77, 100) == 30);
  CHECK(open.written_from(147, 1) == 0);
  CHECK(open.claim(147, 30) == 30);
  CHECK(open.claim_rows({0, 400, 1, 0}) == 0);
}

TEST_CASE("numbers that lie apart are claimed and told of as each by itself") {
  constexpr std::size_t count = 700;
  for (const std::size_t distance : {1u, 2u, 3u, 31u, 32u, 33u, 63u, 64u, 65u, 200u})
    for (const std::size_t first : {0u, 1u, 63u, 64u, 130u}) {
      NumberBits bits(count, /*is_bounded=*/false);
      const std::size_t there = (count - 1 - first) / distance + 1, taken = there / 2;
      CHECK(bits.claim(first + taken * distance, 1) == 1);
      CHECK(bits.claim(first, there, distance) == taken);
      bits.set_written(first, taken, distance);
      bits.give_back(first + taken * distance, 1);
      CHECK(bits.claim(first + taken * distance, there - taken, distance) == there - taken);
      for (std::size_t key = 0; key < count; ++key) {
        const bool is_one = key >= first && (key - first) % distance == 0;
        CHECK(bits.claim(key, 1) == (is_one ? 0 : 1));
        CHECK(bits.written_from(key, 1) == (is_one && key < first + taken * distance ? 1 : 0));
      }
    }
}

TEST_CASE("bits of numbers: pages of which each number is told of apart go, too") {
  constexpr std::size_t count = 3 * 32768;
  NumberBits bits(count, /*is_bounded=*/true);
  for (std::size_t first = 0; first < 3; ++first) {
    CHECK(bits.claim(first, count / 3, 3) == count / 3);
    CHECK(bits.written_from(0, count) == first);
    bits.set_written(first, count / 3, 3);
  }
  CHECK(bits.written_from(0, count) == count);
  CHECK(bits.claim(32768, 1) == 0);
}

TEST_CASE("rows whose numbers lie apart are claimed as a whole, whether they follow each other or not") {
  for (const std::int64_t distance : {6, 10}) {  // three numbers, two apart
    OpenNumbers open(ValueKind::int_, 100);
    const NumberRows rows{1, 3, 5, distance, 2};
    CHECK(rows.steady() == (distance == 6 ? 2 : 0));
    CHECK(open.claim(rows.begin(3) + 2, 1) == 1);
    CHECK(open.claim_rows(rows) == 3);
    CHECK(open.claim(rows.begin(3), 1) == 1);  // was given back
    CHECK(open.claim(rows.begin(2) + 4, 1) == 0);
    open.set_written(rows.up_to(2));
    open.give_back_rows(rows.up_to(3).from(2));
    CHECK(open.written_count() == 6);
    CHECK(open.is_written(1 + distance + 4));
    CHECK_FALSE(open.is_written(2));
    CHECK_FALSE(open.is_written(rows.begin(2)));
    CHECK(open.claim_rows(rows.up_to(3).from(2)) == 1);
  }
}

}  // namespace raddle::vm
