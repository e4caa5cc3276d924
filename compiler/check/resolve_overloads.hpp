#pragma once
// Picks the function that a call means.
#include <optional>
#include <variant>

#include "compiler/check/convert.hpp"

namespace raddle::check_detail {

/// One formal of a matched call: the argument as written (null: the default is taken) and the type it must become.
struct MatchedArgument {
  ast::Expr* argument = nullptr;
  const ast::Expr* default_value = nullptr;
  TypeId type = TypeStore::error;
};

struct Match {
  const Signature* signature = nullptr;
  std::vector<MatchedArgument> arguments;  ///< formal order, then the varargs
  std::vector<TypeId> outputs;
  int conversions = 0;     ///< sum of the arguments' conversion_cost: 0 if all are exact
  std::uint32_t rank = 0;  ///< of the dense arrays that it is lifted over; 0: of none
};

/// Why a signature does not match.
struct Mismatch {
  enum class Kind : std::uint8_t { count, type, unknown_keyword, repeated, positional_after_keyword };
  Kind kind;
  std::size_t argument = 0;  ///< index in the call; not for count
  std::size_t other = 0;     ///< type: index of the formal; repeated: index in the call of the first time
};

/// Arguments must have been checked.
std::variant<Match, Mismatch> match(Context& context, const Signature& signature, const ast::Call& call);

/// The best overload: the fewest conversions; then scripts' functions before builtins, fixed counts before varargs.
/// Reports if none fits or two fit equally; nullopt then, and silently if an argument already has the error type.
std::optional<Match> resolve_overload(Context& context, const std::vector<Signature>& candidates,
                                      const ast::Call& call);

/// Of inputs that have no default value.
std::size_t required_count(const Signature& signature);

/// "2 arguments", "1 or 2 arguments", "at least 1 argument".
std::string argument_count_text(const Signature& signature);

}  // namespace raddle::check_detail
