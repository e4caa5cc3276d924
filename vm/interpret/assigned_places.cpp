#include "vm/interpret/assigned_places.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace raddle::vm {

namespace {

constexpr std::int64_t most_points = 1 << 16;  ///< of loops that are looked through

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

/// One operation and the keys of all its points.
class KeySearch {
 public:
  KeySearch(const ElementWriter& writer, const HomeValues& values) : writer_(writer), values_(values) {}

  Verdict assigns(std::int64_t key) {
    if (writer_.key.empty() || !read_values()) return Verdict::maybe;
    key_ = key;
    std::int64_t points = 1;
    for (const Range& range : ranges_) {
      points *= std::min(range.count(), most_points);
      if (points > most_points) return Verdict::maybe;
    }
    if (!has_key(0)) return Verdict::no;
    return writer_.is_sure ? Verdict::sure : Verdict::maybe;
  }

 private:
  struct Range {
    std::int64_t low, high, step;
    std::int64_t count() const { return high < low ? 0 : (high - low) / step + 1; }
  };

  bool read_values() {
    for (const ElementWriter::Range& loop : writer_.loops) {
      const auto low = values_.of(loop.low), high = values_.of(loop.high), step = values_.of(loop.step);
      if (!low || !high || !step || *step < 1) return false;
      ranges_.push_back({*low, *high, *step});
    }
    for (const ElementWriter::KeyStep& step : writer_.key) {
      if (step.kind != ElementWriter::KeyStep::Kind::value) continue;
      const auto value = values_.of(step.value);
      if (!value) return false;
      read_.push_back(*value);
    }
    counters_.resize(ranges_.size());
    return true;
  }

  bool has_key(std::size_t level) {
    if (level == ranges_.size()) return key_at_point() == key_;
    const Range& range = ranges_[level];
    for (std::int64_t i = 0; i < range.count(); ++i) {
      counters_[level] = range.low + i * range.step;
      if (has_key(level + 1)) return true;
    }
    return false;
  }

  std::int64_t key_at_point() const {
    using Kind = ElementWriter::KeyStep::Kind;
    std::vector<std::uint64_t> stack;  // an operation that has not run may have bounds with which keys are no ints
    auto value = read_.begin();
    for (const ElementWriter::KeyStep& step : writer_.key) {
      if (step.kind == Kind::value || step.kind == Kind::counter) {
        stack.push_back(static_cast<std::uint64_t>(step.kind == Kind::value ? *value++ : counters_[step.counter]));
        continue;
      }
      const std::uint64_t right = stack.back();
      stack.pop_back();
      stack.back() = step.kind == Kind::add        ? stack.back() + right
                     : step.kind == Kind::subtract ? stack.back() - right
                                                   : stack.back() * right;
    }
    return static_cast<std::int64_t>(stack.back());
  }

  const ElementWriter& writer_;
  const HomeValues& values_;
  std::int64_t key_ = 0;
  std::vector<Range> ranges_;
  std::vector<std::int64_t> read_, counters_;
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

/// The only one that can have assigned the element besides `here`, or the first one that surely does; null: it is open.
const std::pair<const Place, PlaceWriter>* other_writer(const std::map<Place, PlaceWriter>& writers, Place here) {
  const std::pair<const Place, PlaceWriter>* only = nullptr;
  bool is_alone = true;
  for (const auto& writer : writers) {
    if (writer.first == here || writer.second.verdict == Verdict::no) continue;
    if (writer.second.verdict == Verdict::sure) return &writer;
    is_alone = is_alone && only == nullptr;
    only = &writer;
  }
  return is_alone && only && writers.at(here).is_once ? only : nullptr;
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
  const auto* const other = other_writer(writers, place);
  if (!other) return {place, std::nullopt};
  const bool is_later = writers.at(place).is_once && other->second.is_once && place < other->first;
  return is_later ? AssignedPlaces{other->first, place} : AssignedPlaces{place, other->first};
}

}  // namespace raddle::vm
