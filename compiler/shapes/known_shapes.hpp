#pragma once
// What is known of the extents of dense arrays, and of ints that may be extents, before a script runs.
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/check/context.hpp"
#include "stdlib/shape_texts.hpp"

namespace raddle::check_detail {

/// stdlib::any_extent: it is not known.
using Shape = std::vector<std::int64_t>;

/// What is known of variables while an expression is looked at.
struct Surroundings {
  const std::unordered_map<VariableId, std::int64_t>* inputs = nullptr;  ///< of the function around it, in one call
  std::int64_t end = stdlib::any_extent;                                 ///< the extent whose last index is `end`
};

/// An entry for each variable: as each is assigned once, what is known of it holds wherever it is read.
class KnownShapes {
 public:
  /// @param context  all bodies are checked, without errors; outlives this
  explicit KnownShapes(const Context& context);

  /// @return  none: it is not known
  std::optional<std::int64_t> number(const ast::Expr& expr, Surroundings around = {});
  std::optional<bool> truth(const ast::Expr& expr);
  /// Of a dense array, an extent for each dimension; of all else none.
  Shape shape(const ast::Expr& expr, Surroundings around = {});
  /// Of `[[1, 2], [3, 4]]` or `[0:9]`, also where that is no dense array.
  Shape shape_of_literal(const ast::Expr& literal);
  /// Those of a call that is done for each element which stand for single values: not arrays that it takes whole.
  std::vector<const ast::Expr*> lifted_arguments(const ast::Call& call) const;
  Shape shape_of_output(const ast::Call& call, std::size_t output, Surroundings around = {});
  Shape shape_of(VariableId id);
  /// The extents that a variable is declared with, or the dense arrays that it holds; empty: none are.
  Shape declared(VariableId id);
  /// Those of what is assigned at this place: a variable, a field, an element of a growing array.
  Shape declared_at(const ast::Expr& place);

  /// What the inputs of the callee come to that are ints, and the names of extents in its formals.
  std::unordered_map<VariableId, std::int64_t> inputs_of(const ast::Call& call, Surroundings around = {});
  /// The entries of `dimension`, which is one of extents.
  Shape extents(const ast::Dimension& dimension, Surroundings around = {});

 private:
  struct Entry {
    const ast::Dimension* dimension = nullptr;  ///< of its declaration, if it has extents
    const ast::Expr* value = nullptr;           ///< what is assigned as a whole, if that is so at one place
    std::size_t output = 0;                     ///< of a call: which one
    std::size_t writes = 0;                     ///< as a whole
    bool is_row = false;                        ///< of `value`: what a loop visits
    enum class State : std::uint8_t { not_looked_at, in_work, known } state = State::not_looked_at;
    Shape shape = {};
    std::optional<std::int64_t> number = {};
  };

  void note_block(const ast::Block& block);
  void note(const ast::Stmt& statement);
  void note_declaration(const ast::Declaration& declaration);
  void note_assignment(const ast::Assign& assign);
  void note_formal(const ast::Formal& formal);
  void note_dimension(VariableId id, const ast::TypeExpr& type, const std::vector<ast::Dimension>& dimensions);
  void note_value(VariableId id, const ast::Expr* value, std::size_t output = 0);

  const Entry& known(VariableId id);
  void find(VariableId id, Entry& entry);
  std::optional<std::int64_t> number_of_call(const ast::Call& call, Surroundings around);
  Shape shape_of_index(const ast::Index& index, Surroundings around);
  /// Of `A[i, 2:4]` the extents of `2:4` and of what follows. @param array  the extents of what the brackets follow
  Shape selected(const ast::Index& index, const Shape& array, Surroundings around);

  const Context& context_;
  std::vector<Entry> entries_;  ///< by VariableId
  std::size_t depth_ = 0;       ///< of variables that are computed from each other
};

/// The extents that arrays of these shapes have in common as operands; none where they do not fit.
Shape joined(const Shape& first, const Shape& second);
bool are_known(const Shape& shape);

}  // namespace raddle::check_detail
