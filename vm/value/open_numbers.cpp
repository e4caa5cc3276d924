#include "vm/value/open_numbers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <new>

namespace raddle::vm {

namespace {

/// Every bit of a word, or only each `distance` bits.
std::uint64_t bits_apart(std::size_t distance) {
  if (distance == 1) return ~std::uint64_t{0};
  std::uint64_t bits = 1;
  for (; distance < 64; distance *= 2) bits |= bits << distance;
  return bits;
}

/// Visits the words of bits that lie `distance` apart, from `first` on: visit(number of the word, mask). It says
/// whether to go on.
template <typename Visit>
void visit_words(std::size_t first, std::size_t count, std::size_t distance, const Visit& visit) {
  const std::uint64_t all = bits_apart(distance);
  while (count != 0) {
    const std::size_t in_word = first % 64, left = 63 - in_word;
    const std::size_t here = std::min(count, (distance == 1 ? left : left / distance) + 1);
    const std::uint64_t below_last = (std::uint64_t{1} << (here - 1) * distance) - 1;
    if (!visit(first / 64, (all & (2 * below_last + 1)) << in_word)) return;
    first += here * distance;
    count -= here;
  }
}

/// Visits the stretches of numbers that follow each other: visit(first, count).
template <typename Visit>
void each_stretch(std::size_t first, std::size_t count, std::size_t distance, const Visit& visit) {
  if (distance == 1) return visit(first, count);
  for (std::size_t i = 0; i < count; ++i) visit(first + i * distance, std::size_t{1});
}

/// How many bits of a mask stand below the first one of `bits`, which are some of them.
std::size_t count_below(std::uint64_t mask, std::uint64_t bits) {
  return static_cast<std::size_t>(std::popcount(bits == 0 ? mask : mask & ((bits & -bits) - 1)));
}

}  // namespace

NumberBits::NumberBits(std::size_t count, bool is_bounded) : words_((count + 63) / 64) {
  if (is_bounded && count > page_numbers) {
    const std::size_t pages = (count + page_numbers - 1) / page_numbers;
    words_ = pages * page_words;
    unwritten_ = std::make_unique<std::atomic<std::uint32_t>[]>(pages);
    void* const memory =
        mmap(nullptr, 2 * words_ * sizeof(Word), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    written_ = static_cast<Word*>(memory);
    for (std::size_t page = 0; page < pages; ++page)
      unwritten_[page].store(static_cast<std::uint32_t>(std::min(page_numbers, count - page * page_numbers)),
                             std::memory_order_relaxed);
  } else if (is_large()) {
    written_ = static_cast<Word*>(LargeBlocks::take(2 * words_ * sizeof(Word)));
    std::uninitialized_value_construct_n(written_, 2 * words_);
  } else {
    written_ = new Word[2 * words_]();
  }
  claimed_ = written_ + words_;
}

NumberBits::~NumberBits() {
  if (unwritten_)
    munmap(written_, 2 * words_ * sizeof(Word));
  else if (is_large())
    LargeBlocks::give_back(written_, 2 * words_ * sizeof(Word));
  else
    delete[] written_;
}

std::size_t NumberBits::claim(std::size_t first, std::size_t count, std::size_t distance) {
  std::size_t claimed = 0;
  visit_words(first, count, distance, [&](std::size_t word, std::uint64_t mask) {
    std::uint64_t before = claimed_[word].fetch_or(mask, std::memory_order_acq_rel) & mask;
    if (is_whole(word)) before = mask;
    claimed += count_below(mask, before);
    if (before == 0) return true;
    if (const std::uint64_t not_kept = mask & ~before & ~((before & -before) - 1); not_kept != 0)
      claimed_[word].fetch_and(~not_kept, std::memory_order_acq_rel);
    return false;
  });
  return claimed;
}

void NumberBits::give_back(std::size_t first, std::size_t count, std::size_t distance) {
  visit_words(first, count, distance, [&](std::size_t word, std::uint64_t mask) {
    claimed_[word].fetch_and(~mask, std::memory_order_acq_rel);
    return true;
  });
}

void NumberBits::set_written(std::size_t first, std::size_t count, std::size_t distance) {
  visit_words(first, count, distance, [&](std::size_t word, std::uint64_t mask) {
    written_[word].fetch_or(mask, std::memory_order_seq_cst);
    return true;
  });
  if (!unwritten_) return;
  while (count != 0) {
    const std::size_t page = first / page_numbers, last = (page + 1) * page_numbers - 1;
    const auto here = static_cast<std::uint32_t>(std::min(count, (last - first) / distance + 1));
    if (unwritten_[page].fetch_sub(here, std::memory_order_seq_cst) == here) {
      madvise(&written_[page * page_words], page_words * sizeof(Word), MADV_DONTNEED);
      madvise(&claimed_[page * page_words], page_words * sizeof(Word), MADV_DONTNEED);
    }
    first += here * distance;
    count -= here;
  }
}

std::size_t NumberBits::written_from(std::size_t first, std::size_t count) const {
  std::size_t found = 0;
  visit_words(first, count, 1, [&](std::size_t word, std::uint64_t mask) {
    std::uint64_t missing = mask & ~written_[word].load(std::memory_order_seq_cst);
    if (missing != 0 && is_whole(word)) missing = 0;
    found += count_below(mask, missing);
    return missing == 0;
  });
  return found;
}

// ---------------------------------------------------------------- numbers

Buffer& OpenNumbers::numbers() {
  if (Buffer* const there = numbers_.load(std::memory_order_acquire)) return *there;
  const std::lock_guard lock(making_);
  if (!own_numbers_) {
    own_numbers_ = Buffer::make_open(kind_, count_);
    numbers_.store(own_numbers_.get(), std::memory_order_release);
  }
  return *own_numbers_;
}

NumberBits& OpenNumbers::bits() {
  if (NumberBits* const there = bits_.load(std::memory_order_acquire)) return *there;
  const std::lock_guard lock(making_);
  if (!own_bits_) {
    own_bits_ = std::make_unique<NumberBits>(count_, BoundedMemory::get() != nullptr);
    bits_.store(own_bits_.get(), std::memory_order_seq_cst);
  }
  return *own_bits_;
}

std::size_t OpenNumbers::inside(std::int64_t key, std::size_t count, std::size_t distance) const {
  if (key < 0 || static_cast<std::size_t>(key) >= count_) return 0;
  const std::size_t behind = count_ - 1 - static_cast<std::size_t>(key);
  return std::min(count, (distance == 1 ? behind : behind / distance) + 1);
}

std::size_t OpenNumbers::claim(std::int64_t key, std::size_t count, std::size_t distance) {
  count = inside(key, count, distance);
  if (count == 0) return 0;
  const auto first = static_cast<std::size_t>(key);
  const std::size_t claimed = are_of_one_ ? count : bits().claim(first, count, distance);
  if (BoundedMemory::get())
    each_stretch(first, claimed, distance,
                 [this](std::size_t begin, std::size_t numbers_there) { numbers().begin_write(begin, numbers_there); });
  return claimed;
}

std::int64_t OpenNumbers::claim_rows(const NumberRows& rows) {
  if (rows.count() == 0) return 0;
  const auto length = static_cast<std::size_t>(rows.length);
  if (const auto apart = static_cast<std::size_t>(rows.steady()); apart != 0) {
    const std::size_t claimed = claim(rows.first, static_cast<std::size_t>(rows.count()), apart);
    const std::size_t of_whole_rows = claimed - claimed % length;
    give_back(static_cast<std::size_t>(rows.first) + of_whole_rows * apart, claimed - of_whole_rows, apart);
    return static_cast<std::int64_t>(of_whole_rows / length);
  }
  const auto stride = static_cast<std::size_t>(rows.stride);
  for (std::int64_t row = 0; row < rows.rows; ++row) {
    const std::size_t claimed = claim(rows.begin(row), length, stride);
    if (claimed == length) continue;
    give_back(static_cast<std::size_t>(rows.begin(row)), claimed, stride);
    return row;
  }
  return rows.rows;
}

void OpenNumbers::give_back_rows(const NumberRows& rows) {
  rows.each_run([this](std::int64_t first, std::int64_t count, std::int64_t apart) {
    give_back(static_cast<std::size_t>(first), static_cast<std::size_t>(count), static_cast<std::size_t>(apart));
  });
}

void OpenNumbers::give_back(std::size_t first, std::size_t count, std::size_t distance) {
  if (!are_of_one_ && count != 0) bits().give_back(first, count, distance);
}

void OpenNumbers::set_written(const NumberRows& rows) {
  const auto count = static_cast<std::size_t>(rows.count());
  if (count == 0) return;
  if (static_cast<std::size_t>(rows.length) == count_) {
    if (BoundedMemory::get()) numbers().wrote(0, count);
    are_all_written_.store(true, std::memory_order_seq_cst);  // see Note [Promises]
  } else {
    NumberBits& all = bits();
    rows.each_run([&](std::int64_t key, std::int64_t in_run, std::int64_t apart) {
      const auto first = static_cast<std::size_t>(key), length = static_cast<std::size_t>(in_run),
                 distance = static_cast<std::size_t>(apart);
      if (BoundedMemory::get())
        each_stretch(first, length, distance,
                     [this](std::size_t begin, std::size_t numbers_there) { numbers().wrote(begin, numbers_there); });
      all.set_written(first, length, distance);
    });
  }
  missing_.fetch_sub(count, std::memory_order_release);
}

std::int64_t OpenNumbers::written_from(std::int64_t key, std::int64_t count) const {
  const std::size_t most = inside(key, static_cast<std::size_t>(count));
  if (most == 0) return 0;
  // seq_cst: see Note [Promises]; plain loads on x86
  if (are_all_written_.load(std::memory_order_seq_cst)) return static_cast<std::int64_t>(most);
  const NumberBits* const bits = bits_.load(std::memory_order_seq_cst);
  return bits ? static_cast<std::int64_t>(bits->written_from(static_cast<std::size_t>(key), most)) : 0;
}

}  // namespace raddle::vm
