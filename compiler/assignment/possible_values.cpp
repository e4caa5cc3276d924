#include "compiler/assignment/possible_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace raddle::check_detail {
namespace {

/// Wide enough for each `int` and each `float`.
using Number = long double;
static_assert(std::numeric_limits<Number>::digits >= 63);

std::optional<Number> number_of(const Fact& fact) {
  if (!fact.constant) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(&*fact.constant)) return *whole;
  if (const auto* number = std::get_if<double>(&*fact.constant)) return *number;
  return std::nullopt;
}

/// What a number can still be.
class NumberRange {
 public:
  void narrow(const Fact& fact, Number bound) {
    is_whole_ = is_whole_ || fact.is_whole;
    if (!(fact.relations & Fact::less)) raise(bound, !(fact.relations & Fact::equal));
    if (!(fact.relations & Fact::more)) reduce(bound, !(fact.relations & Fact::equal));
    if (fact.relations == (Fact::less | Fact::more)) excluded_.push_back(bound);
  }

  bool is_empty() {
    if (is_whole_) leave_bounds();
    if (low_ != high_) return low_ > high_;
    return low_is_open_ || high_is_open_ || is_excluded(low_);
  }

 private:
  bool is_excluded(Number number) const { return std::ranges::find(excluded_, number) != excluded_.end(); }

  void raise(Number bound, bool is_open) {
    if (bound < low_) return;
    low_is_open_ = is_open || (bound == low_ && low_is_open_);
    low_ = bound;
  }

  void reduce(Number bound, bool is_open) {
    if (bound > high_) return;
    high_is_open_ = is_open || (bound == high_ && high_is_open_);
    high_ = bound;
  }

  /// Of whole numbers `n > 3` is `n >= 4`, and so it goes on while the first one is excluded.
  void leave_bounds() {
    if (std::isfinite(low_) && std::ceil(low_) != low_)
      std::tie(low_, low_is_open_) = std::pair(std::ceil(low_), false);
    if (std::isfinite(high_) && std::floor(high_) != high_)
      std::tie(high_, high_is_open_) = std::pair(std::floor(high_), false);
    while (std::isfinite(low_) && low_ <= high_ && (low_is_open_ || is_excluded(low_))) {
      ++low_;
      low_is_open_ = false;
    }
    while (std::isfinite(high_) && low_ <= high_ && (high_is_open_ || is_excluded(high_))) {
      --high_;
      high_is_open_ = false;
    }
  }

  Number low_ = -std::numeric_limits<Number>::infinity();
  Number high_ = std::numeric_limits<Number>::infinity();
  bool low_is_open_ = false;
  bool high_is_open_ = false;
  bool is_whole_ = false;
  std::vector<Number> excluded_;
};

class Knowledge {
 public:
  bool add(const Fact& fact) {
    const std::uint8_t all = Fact::less | Fact::equal | Fact::more;
    std::uint8_t& relations = relations_.try_emplace({fact.left, fact.right}, all).first->second;
    relations &= fact.relations;
    if (relations == 0) return false;
    if (const auto number = number_of(fact)) {
      ranges_[fact.left].narrow(fact, *number);
    } else if (fact.constant && fact.is_equality()) {
      if (texts_.try_emplace(fact.left, fact.right).first->second != fact.right) return false;
    }
    return true;
  }

  bool is_possible() {
    return std::ranges::none_of(ranges_, [](auto& range) { return range.second.is_empty(); });
  }

 private:
  std::map<std::pair<std::string_view, std::string_view>, std::uint8_t> relations_;
  std::map<std::string_view, NumberRange> ranges_;
  std::map<std::string_view, std::string_view> texts_;  ///< the constant, no number, that something is equal to
};

}  // namespace

bool is_possible(const Facts& facts) {
  Knowledge knowledge;
  return std::ranges::all_of(facts, [&](const Fact& fact) { return knowledge.add(fact); }) && knowledge.is_possible();
}

}  // namespace raddle::check_detail
