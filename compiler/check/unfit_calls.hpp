#pragma once
// What is said of calls that no function fits, or several fit equally.
#include <vector>

#include "compiler/check/resolve_overloads.hpp"

namespace raddle::check_detail {

/// Of the only function of that name.
void report_mismatch(Context& context, const Signature& signature, const ast::Call& call, const Mismatch& mismatch);

/// @param equals  fit equally
void report_ambiguous(Context& context, const std::vector<const Signature*>& equals, const ast::Call& call);

/// @param candidates  of which none fits
void report_no_overload(Context& context, const std::vector<Signature>& candidates, const ast::Call& call);

}  // namespace raddle::check_detail
