#include "vm/interpret/assigned_places.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <ranges>
#include <utility>
#include <vector>

namespace raddle::vm {

namespace {

enum class Verdict : std::uint8_t { no, maybe, sure };

/// Ints of the frame of an array's body. Of the operation that has assigned an element they are there, as it has. Those
/// of others may not be there yet.
class HomeValues {
 public:
  HomeValues(const Program& program, Frame& home) : program_(program), home_(home) {}

  std::optional<std::int64_t> of(Operand operand) const {
    const Value value = operand.is_constant() ? program_.constants[operand.index()] : home_.at(operand).get();
    if (value.kind() != ValueKind::int_) return std::nullopt;
    return value.as_int();
  }

 private:
  const Program& program_;
  Frame& home_;
};

/// Ints that are made of others and may be too large for that.
class Checked {
 public:
  std::int64_t add(std::int64_t a, std::int64_t b) { return noted(__builtin_add_overflow(a, b, &result_)); }
  std::int64_t subtract(std::int64_t a, std::int64_t b) { return noted(__builtin_sub_overflow(a, b, &result_)); }
  std::int64_t multiply(std::int64_t a, std::int64_t b) { return noted(__builtin_mul_overflow(a, b, &result_)); }
  bool has_failed() const { return has_failed_; }

 private:
  std::int64_t noted(bool overflows) {
    has_failed_ |= overflows;
    return overflows ? 0 : result_;
  }
  std::int64_t result_ = 0;
  bool has_failed_ = false;
};

/// One operation and the keys of all its points: `base`, and for each loop a multiple of its counter. Whether a key is
/// among them is solved for, from the loop with the longest stride on, as there may be very many points, and an error
/// for each of them.
class KeySearch {
 public:
  KeySearch(const ElementWriter& writer, const HomeValues& values) : writer_(writer), values_(values) {}

  Verdict assigns(std::int64_t key) {
    if (writer_.key.empty() || !read_key() || !read_loops()) return Verdict::maybe;
    if (is_empty_) return Verdict::no;
    const std::int64_t rest = checked_.subtract(key, key_.base);
    if (checked_.has_failed()) return Verdict::maybe;
    if (!has_key(rest, 0)) return Verdict::no;
    return writer_.is_sure && tried_ <= most_tried ? Verdict::sure : Verdict::maybe;
  }

 private:
  static constexpr int most_tried = 64;  ///< rounds of loops: of one that goes through rows and columns one or two
  struct Key {
    std::int64_t base = 0;
    std::vector<std::int64_t> factors;  ///< by loop
  };
  struct Stride {
    std::int64_t length, count;  ///< the length is not negative
    std::int64_t behind = 0;     ///< how far all loops behind it reach together
  };

  /// @return false: it is not made like that
  bool read_key() {
    using Kind = ElementWriter::KeyStep::Kind;
    std::vector<Key> stack;
    for (const ElementWriter::KeyStep& step : writer_.key) {
      if (step.kind == Kind::value || step.kind == Kind::counter) {
        Key& made = stack.emplace_back(Key{0, std::vector<std::int64_t>(writer_.loops.size())});
        if (step.kind == Kind::counter) {
          made.factors[step.counter] = 1;
          continue;
        }
        const auto value = values_.of(step.value);
        if (!value) return false;
        made.base = *value;
        continue;
      }
      const Key right = std::move(stack.back());
      stack.pop_back();
      if (!join(step.kind, stack.back(), right)) return false;
    }
    key_ = std::move(stack.back());
    return !checked_.has_failed();
  }

  bool join(ElementWriter::KeyStep::Kind kind, Key& left, const Key& right) {
    using Kind = ElementWriter::KeyStep::Kind;
    const auto is_zero = [](std::int64_t factor) { return factor == 0; };
    if (kind == Kind::multiply) {
      const bool is_left_fixed = std::ranges::all_of(left.factors, is_zero);
      if (!is_left_fixed && !std::ranges::all_of(right.factors, is_zero)) return false;
      const std::int64_t by = is_left_fixed ? left.base : right.base;
      if (is_left_fixed) left = right;
      left.base = checked_.multiply(left.base, by);
      for (std::int64_t& factor : left.factors) factor = checked_.multiply(factor, by);
      return true;
    }
    const auto joined = [&](std::int64_t a, std::int64_t b) {
      return kind == Kind::add ? checked_.add(a, b) : checked_.subtract(a, b);
    };
    left.base = joined(left.base, right.base);
    for (std::size_t i = 0; i < left.factors.size(); ++i) left.factors[i] = joined(left.factors[i], right.factors[i]);
    return true;
  }

  /// Counters begin at 0 then, and strides are not negative.
  bool read_loops() {
    for (std::size_t i = 0; i < writer_.loops.size(); ++i) {
      const ElementWriter::Range& loop = writer_.loops[i];
      const auto low = values_.of(loop.low), high = values_.of(loop.high), step = values_.of(loop.step);
      if (!low || !high || !step || *step < 1) return false;
      is_empty_ = is_empty_ || *high < *low;
      if (is_empty_) continue;
      const std::int64_t count = checked_.add(checked_.subtract(*high, *low) / *step, 1);
      const std::int64_t stride = checked_.multiply(key_.factors[i], *step);
      key_.base = checked_.add(key_.base, checked_.multiply(key_.factors[i], *low));
      if (stride < 0) key_.base = checked_.add(key_.base, checked_.multiply(stride, count - 1));
      strides_.push_back({stride < 0 ? checked_.subtract(0, stride) : stride, count});
    }
    std::ranges::sort(strides_, std::greater(), &Stride::length);
    std::int64_t behind = 0;
    for (Stride& each : strides_ | std::views::reverse) {
      each.behind = behind;
      behind = checked_.add(behind, checked_.multiply(each.length, each.count - 1));
    }
    return !checked_.has_failed();
  }

  /// @param rest  what the loops from `level` on have to come to. @return true if that is open, too
  bool has_key(std::int64_t rest, std::size_t level) {
    if (rest < 0) return false;
    if (level == strides_.size() || strides_[level].length == 0) return rest == 0;
    const Stride& stride = strides_[level];
    const std::int64_t first = rest > stride.behind ? (rest - stride.behind - 1) / stride.length + 1 : 0;
    const std::int64_t last = std::min(rest / stride.length, stride.count - 1);
    for (std::int64_t i = first; i <= last; ++i)
      if (++tried_ > most_tried || has_key(rest - i * stride.length, level + 1)) return true;
    return false;
  }

  const ElementWriter& writer_;
  const HomeValues& values_;
  Checked checked_;
  Key key_;
  std::vector<Stride> strides_;  ///< the longest ones first
  bool is_empty_ = false;        ///< some loop has no round
  int tried_ = 0;
};

/// null: it is not around the frame
Frame* frame_of_body(const Program& program, Frame& frame, BodyId body) {
  Frame* each = &frame;
  while (each && &each->body != &program.bodies[body]) each = each->is_function() ? nullptr : each->outer;
  return each;
}

/// What is known of all operations at one place.
struct PlaceWriter {
  bool is_once = false;
  Verdict verdict = Verdict::no;
};

/// Both places that are told, in the order of the text: the first two that surely assign the element, or else `here`
/// and the only other one that can; null: it is open. None of this depends on which of them has come first.
std::optional<std::pair<Place, Place>> two_writers(const std::map<Place, PlaceWriter>& writers, Place here) {
  std::vector<Place> sure, possible;
  for (const auto& [place, writer] : writers) {
    if (place == here || writer.verdict == Verdict::sure)
      sure.push_back(place);
    else if (writer.verdict == Verdict::maybe)
      possible.push_back(place);
  }
  if (sure.size() > 1) return std::pair(sure[0], sure[1]);
  if (possible.size() != 1 || !writers.at(here).is_once) return std::nullopt;
  return std::minmax(here, possible[0]);
}

}  // namespace

AssignedPlaces assigned_places(const Program& program, Frame& frame, Place place, const Value& key) {
  const auto found = program.element_writers_at.find(place);
  if (found == program.element_writers_at.end()) return {place, std::nullopt};
  const ElementWriters& of_array = program.element_writers[found->second];
  Frame* const home = frame_of_body(program, frame, of_array.body);
  const bool is_known = home != nullptr && key.kind() == ValueKind::int_;
  std::map<Place, PlaceWriter> writers;
  for (const ElementWriter& each : of_array.all) {
    const Verdict verdict =
        is_known ? KeySearch(each, HomeValues(program, *home)).assigns(key.as_int()) : Verdict::maybe;
    PlaceWriter& writer = writers.try_emplace(each.place, PlaceWriter{each.is_once, Verdict::no}).first->second;
    writer.verdict = std::max(writer.verdict, verdict);
  }
  const auto both = two_writers(writers, place);
  return both ? AssignedPlaces{both->second, both->first} : AssignedPlaces{place, std::nullopt};
}

}  // namespace raddle::vm
