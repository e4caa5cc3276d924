#pragma once
// What is assigned to one variable: the flow facts behind "assigned more than once" and "never assigned".
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/assignment/conditions.hpp"

namespace raddle::check_detail {

/// One step from a variable to the part of it that is assigned or read.
struct Step {
  enum class Kind : std::uint8_t {
    field,    ///< `.name`
    literal,  ///< `[3]`, `["a"]`: an element known now
    element,  ///< `[i]`, or an append to a bag: some element
  };
  Kind kind = Kind::element;
  std::uint32_t field = 0;
  std::string key;                         ///< literal
  VariableId variable = ast::no_variable;  ///< element: the `i`, if it is a variable; equal ones mean the same element
  bool operator==(const Step&) const = default;
};
using Path = std::vector<Step>;

/// As a user writes it: `s.list[3]`, `A[i]`, `A[...]`.
std::string path_text(const Context& context, VariableId variable, const Path& path);
/// The step means one certain part each time.
bool is_known(const Step& step);
/// `part` is `whole` or surely lies in it.
bool lies_in(const Path& part, const Path& whole);
/// The first `length` steps: equal texts for equal paths, of one variable.
std::string place_text(const Path& path, std::size_t length);

/// What an expression waits for, and where.
struct Awaited {
  VariableId variable;
  Path path = {};
  Span span;
  bool closed = false;  ///< if it is an array or bag: until nothing more will be put into it
  /// In place of a variable: an output of this call of a function with a body.
  const ast::Call* call = nullptr;
  std::size_t output = 0;  ///< its number
};

enum class LoopKind : std::uint8_t { none, foreach_, for_, iterate };

struct Write {
  Path path;                            ///< empty: the whole variable
  Span span;                            ///< of the target
  bool definite = true;                 ///< on every path through the part
  bool reported = false;                ///< something was said about it already, or will be
  std::vector<Awaited> needs = {};      ///< without which there surely is no value
  std::vector<Awaited> waits = {};      ///< without which the statement is not even reached
  std::optional<Span> own_value = {};   ///< where its own value is read to compute it
  bool is_sum = false;                  ///< it is computed by a `+`
  LoopKind loop = LoopKind::none;       ///< the innermost one around it, inside the variable's scope
  std::optional<Span> condition = {};   ///< where it is not definite: what it depends on
  bool is_in_body = false;              ///< `condition` is what a loop runs over, or how long
  Condition when = always();            ///< it is done
  const ast::Expr* value = nullptr;     ///< what is assigned; one call, if several variables are
  bool in_one_iteration = false;        ///< `i == n`: if there is such an iteration, which the run tells
  std::vector<Write> of_branches = {};  ///< of a whole variable that each branch writes: those that this one stands for
};

/// All that is assigned to one variable by a part of a body, in order. Generated scripts assign the elements of an
/// array one by one, by the thousands: so writes are found by their places, and those of one place by what is so there.
class Writes {
 public:
  void add(Write write) { all_.push_back(std::move(write)); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  const Write& front() const { return all_.front(); }
  Write& front() { return all_.front(); }
  const Write& operator[](std::size_t index) const { return all_[index]; }
  Write& operator[](std::size_t index) { return all_[index]; }

  /// Indices of the writes to the place at `path`, to a part of it, or to what it is a part of; in order. Of those to
  /// the very place some are left out which are not done where `when` is so.
  std::vector<std::size_t> touching(const Path& path, const Condition& when) const;
  /// The same without the writes to parts of it.
  std::vector<std::size_t> holding(const Path& path, const Condition& when) const;

 private:
  /// Those that are done only where something is equal to a constant.
  struct WithConstant {
    std::vector<std::size_t> writes;
    std::unordered_map<std::string, std::vector<std::size_t>> by_constant;
  };
  struct Place {
    std::vector<std::size_t> all;
    std::unordered_map<std::string, WithConstant> with_constant;  ///< by what is equal to it
    void add(std::size_t write, const Condition& when);
    const std::vector<std::size_t>& possible(const Condition& when) const;
  };
  /// Of the writes so far; a write's place and condition do not change once it is in.
  struct Index {
    std::size_t count = 0;
    std::unordered_map<std::string, Place> at;
    std::unordered_map<std::string, std::vector<std::size_t>> within;  ///< by each place around the writes'
  };
  void complete_index() const;

  std::vector<Write> all_;
  mutable Index index_;
};

/// The part at `path` is assigned by one of `writes` wherever all of `known` is so, as far as can be told.
bool is_assigned(const Writes& writes, const Path& path, const Condition& known);

}  // namespace raddle::check_detail
