#pragma once
// What a part of a body assigns: the flow facts behind "assigned more than once" and "never assigned".
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/check/conditions.hpp"

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
/// `part` is `whole` or surely lies in it.
bool lies_in(const Path& part, const Path& whole);

/// What an expression waits for, and where.
struct Awaited {
  VariableId variable;
  Path path = {};
  Span span;
  bool closed = false;  ///< if it is an array or bag: until nothing more will be put into it
};

enum class LoopKind : std::uint8_t { none, foreach_, for_, iterate };

struct Write {
  Path path;                           ///< empty: the whole variable
  Span span;                           ///< of the target
  bool definite = true;                ///< on every path through the part
  bool reported = false;               ///< something was said about it already, or will be
  std::vector<Awaited> needs = {};     ///< without which there surely is no value
  std::vector<Awaited> waits = {};     ///< without which the statement is not even reached
  std::optional<Span> own_value = {};  ///< where its own value is read to compute it
  bool is_sum = false;                 ///< it is computed by a `+`
  LoopKind loop = LoopKind::none;      ///< the innermost one around it, inside the variable's scope
  std::optional<Span> condition = {};  ///< where it is not definite: what it depends on
  bool is_in_body = false;             ///< `condition` is what a loop runs over, or how long
  std::vector<Fact> facts = {};        ///< what is so where it is done
  /// It is done if and only if all of these are so; none where that is not known.
  std::optional<std::vector<Fact>> only_if = std::vector<Fact>();
  const ast::Expr* value = nullptr;  ///< what is assigned; one call, if several variables are
  bool in_one_iteration = false;     ///< `i == n`: if there is such an iteration, which the run tells
};

/// The part at `path` is assigned by one of `writes` wherever all of `known` is so, as far as can be told.
bool is_assigned(const std::vector<Write>& writes, const Path& path, const std::vector<Fact>& known);

/// Writes of a statement, a block or a branch, by variable.
class WriteSet {
 public:
  using Map = std::unordered_map<VariableId, std::vector<Write>>;

  void add(VariableId variable, Write write) { writes_[variable].push_back(std::move(write)); }
  bool contains(VariableId variable) const { return writes_.contains(variable); }
  const Map& all() const { return writes_; }
  Map& all() { return writes_; }
  /// Removes and returns what is known of a variable whose scope ends.
  std::vector<Write> take(VariableId variable);

  /// Both parts are run: reports what is assigned by both.
  void then(Context& context, WriteSet next);
  struct Branch;
  /// One of `branches` is run. Writes of all of them stay definite.
  /// Reports what some assign whole and others in parts: a container is made by one assignment or grows by elements.
  static WriteSet either(Context& context, std::vector<Branch> branches, Span condition);

 private:
  static void report_whole_and_parts(Context& context, const WriteSet& one, WriteSet& other);
  Map writes_;
};

struct WriteSet::Branch {
  WriteSet writes;
  Condition condition;
};

}  // namespace raddle::check_detail
