#pragma once
// Walks what is done, and compares the shapes that are known. See Note [sure] in check_shapes.cpp.
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "compiler/shapes/known_shapes.hpp"

namespace raddle::check_detail {

enum class Certainty : std::uint8_t {
  sure,       ///< it is done in each run
  possible,   ///< under a condition, or in a function that may be called
  tolerated,  ///< a failure there is replaced
};

class ShapeChecker {
 public:
  ShapeChecker(Context& context, KnownShapes& known) : context_(context), known_(known) {}

  void statements(const ast::Block& block, Certainty certainty);
  /// Functions that are called by what is surely done, in the order in which that was found.
  const std::vector<const ast::FunctionDefinition*>& called() const { return called_; }

 private:
  void statement(const ast::Stmt& statement);
  void declaration(const ast::Declaration& declaration);
  void assignment(const ast::Assign& assign);
  void foreach_(const ast::Foreach& loop);
  void for_(const ast::For& loop);
  void branch(const ast::If& branch);
  void switch_(const ast::Switch& written);
  /// As much as may be done of what is done by now.
  template <typename Walk>
  void within(Certainty certainty, const Walk& walk);

  void expression(const ast::Expr& expr);
  void binary(const ast::Binary& binary);
  void call(const ast::Call& call);
  void index(const ast::Index& index);
  void slice(const ast::Index& index, std::size_t axis, const Shape& array);

  void check_lifted(const ast::Call& call);
  void check_inputs(const ast::Call& call);
  void check_axis(const ast::Call& call, const ast::FunctionDefinition& callee);
  void check_fields(const ast::Call& call);
  struct Wanted {
    Shape shape;       ///< empty: none is declared
    std::string name;  ///< "`x`", "an element of `T`"
    Span declared, at;
  };
  Wanted wanted_at(const ast::Expr& place, const std::string& name, Span at);
  /// What is assigned to a place, or put there. @param found  its shape
  void check_fit(const ast::Expr& value, const Shape& found, const Wanted& wanted);
  void check_joint(std::string_view what, const std::vector<const ast::Expr*>& operands, Span at);

  /// @return null: nothing is said
  Diagnostic* report(DiagnosticKind kind, Span at, const std::string& text);
  /// Where the array in `expr` is declared, and what is known of its shape.
  void tell_origin(Diagnostic* diagnostic, const ast::Expr& expr);
  std::string short_text(Span span) const;

  Context& context_;
  KnownShapes& known_;
  Certainty certainty_ = Certainty::sure;
  std::vector<const ast::FunctionDefinition*> called_;
  std::unordered_set<const ast::FunctionDefinition*> seen_;
};

}  // namespace raddle::check_detail
