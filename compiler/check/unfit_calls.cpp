#include "compiler/check/unfit_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "compiler/check/call_help.hpp"

namespace raddle::check_detail {
namespace {

/// `toFloat("1.5")`: of a conversion what it was to make counts, not what it makes that of.
void suggest_for_argument(const Context& context, const Signature& signature, const ast::Expr& argument,
                          std::size_t formal, Diagnostic& diagnostic) {
  const auto is_scalar = [&](const TypePattern& pattern) {
    return pattern.kind == TypePattern::Kind::concrete && context.store().is_scalar(pattern.type);
  };
  const auto& alternatives = signature.inputs[formal].alternatives;
  if (alternatives.size() != 1 || alternatives[0].kind != TypePattern::Kind::concrete) return;
  if (suggest_quotient(context, diagnostic, argument, alternatives[0].type)) return;
  const bool converts = signature.kind == ast::CalleeKind::builtin && signature.inputs.size() == 1 &&
                        signature.outputs.size() == 1 && is_scalar(alternatives[0]) && is_scalar(signature.outputs[0]);
  const TypeId wanted = converts && context.store().base(argument.type) != signature.outputs[0].type
                            ? signature.outputs[0].type
                            : alternatives[0].type;
  suggest_conversion(context.store(), diagnostic, argument.type, wanted);
}

/// One argument is what keeps all candidates that take as many from being called, and they want the same in its place.
void explain_argument(Context& context, const std::vector<Signature>& candidates, const ast::Call& call,
                      Diagnostic& diagnostic) {
  const Signature* wanting = nullptr;
  Mismatch first{};
  for (const Signature& candidate : candidates) {
    const auto result = match(context, candidate, call);
    const auto* const mismatch = std::get_if<Mismatch>(&result);
    if (mismatch == nullptr || mismatch->kind != Mismatch::Kind::type) continue;
    const bool is_same = wanting != nullptr && mismatch->argument == first.argument &&
                         describe(candidate.inputs[mismatch->other], context.store()) ==
                             describe(wanting->inputs[first.other], context.store());
    if (wanting != nullptr && !is_same) return;
    wanting = &candidate;
    first = *mismatch;
  }
  if (wanting != nullptr)
    suggest_for_argument(context, *wanting, *call.arguments[first.argument].value, first.other, diagnostic);
}

/// Keywords are for inputs with a default value: they do not count where others are missing.
Diagnostic& report_count(Context& context, const Signature& signature, const ast::Call& call) {
  const auto keywords =
      std::ranges::count_if(call.arguments, [](const auto& each) { return each.keyword.has_value(); });
  const std::size_t by_place = call.arguments.size() - static_cast<std::size_t>(keywords);
  const std::size_t least = required_count(signature);
  if (keywords == 0 || by_place >= least)
    return context.diagnostics.report(DiagnosticKind::wrong_argument_count, call.callee.span, signature.name,
                                      argument_count_text(signature), call.arguments.size());
  return context.diagnostics.report(
      DiagnosticKind::wrong_argument_count, call.callee.span, signature.name,
      fmt::format("{} before its keywords", least == 1 ? "1 argument" : fmt::format("{} arguments", least)), by_place);
}

std::string argument_types_text(const Context& context, const ast::Call& call) {
  std::string text;
  for (const ast::Call::Argument& argument : call.arguments) {
    text += text.empty() ? "" : ", ";
    if (argument.keyword) text += argument.keyword->text + " = ";
    text += context.name(argument.value->type);
  }
  return text;
}

/// Of a dense array: how many there are in the text of its type.
std::ptrdiff_t axes_in(std::string_view type) { return std::ranges::count(type, ':'); }

/// The script's own, and those that take as many arguments by these keywords, stand first; of these, those whose first
/// input has as many axes as is given. Of many not all are told.
void list_candidates(Context& context, const ast::Call& call, std::vector<const Signature*> candidates,
                     Diagnostic& diagnostic) {
  constexpr std::size_t most_listed = 8;
  const std::ptrdiff_t axes = call.arguments.empty() ? 0 : axes_in(context.name(call.arguments.front().value->type));
  std::ranges::stable_sort(candidates, {}, [&](const Signature* candidate) {
    const bool is_of_script = candidate->kind == ast::CalleeKind::function && !context.is_of_library(candidate->span);
    const auto fitted = match(context, *candidate, call);
    const auto* const mismatch = std::get_if<Mismatch>(&fitted);
    const bool has_other_axes =
        candidate->inputs.empty() || axes_in(describe(candidate->inputs.front(), context.store())) != axes;
    return std::pair(is_of_script                                                    ? 0
                     : mismatch != nullptr && mismatch->kind != Mismatch::Kind::type ? 2
                                                                                     : 1,
                     has_other_axes);
  });
  const std::size_t left_out = candidates.size() > most_listed + 1 ? candidates.size() - most_listed : 0;
  for (const Signature* candidate : candidates | std::views::take(candidates.size() - left_out)) {
    const bool is_in_script = candidate->kind == ast::CalleeKind::function && !context.is_of_library(candidate->span);
    if (is_in_script) {
      diagnostic.label(candidate->span, "candidate");
    } else {
      diagnostic.note("candidate: `" + describe(*candidate, context.store()) + "`");
    }
  }
  if (left_out != 0)
    diagnostic.note(fmt::format("and {} more: `raddle doc {}` has all of the library", left_out, call.callee.text));
}

}  // namespace

void report_mismatch(Context& context, const Signature& signature, const ast::Call& call, const Mismatch& mismatch) {
  Diagnostics& out = context.diagnostics;
  const ast::Call::Argument* argument =
      mismatch.kind == Mismatch::Kind::count ? nullptr : &call.arguments[mismatch.argument];
  if (mismatch.kind == Mismatch::Kind::type) {
    const auto& alternatives = signature.inputs[mismatch.other].alternatives;
    const bool is_simple = alternatives.size() == 1 && alternatives[0].kind == TypePattern::Kind::concrete;
    if (is_simple && report_counter_of_quotient(context, *argument->value, alternatives[0].type)) return;
  }
  Diagnostic* diagnostic = nullptr;
  switch (mismatch.kind) {
    case Mismatch::Kind::count: diagnostic = &report_count(context, signature, call); break;
    case Mismatch::Kind::type:
      diagnostic =
          &out.report(DiagnosticKind::wrong_argument_type, argument->value->span, mismatch.other + 1, signature.name,
                      describe(signature.inputs[mismatch.other], context.store()), context.name(argument->value->type));
      if (is_printed(signature.inputs[mismatch.other]) && has_parts(context.store(), argument->value->type))
        diagnostic->note("`repr(...)` makes a `string` of it");
      break;
    case Mismatch::Kind::unknown_keyword: {
      diagnostic = &out.report(DiagnosticKind::unknown_keyword, argument->keyword->span, signature.name,
                               argument->keyword->text);
      std::vector<std::string> names;
      for (const FormalPattern& formal : signature.inputs) names.push_back(formal.name);
      if (signature.varargs) names.pop_back();  // is given without its name
      suggest(*diagnostic, argument->keyword->text, names);
      break;
    }
    case Mismatch::Kind::repeated:
      out.report(DiagnosticKind::repeated_argument, argument->keyword->span, argument->keyword->text)
          .label(call.arguments[mismatch.other].value->span, "first given here");
      return;
    case Mismatch::Kind::positional_after_keyword:
      diagnostic = &out.report(DiagnosticKind::positional_after_keyword, argument->value->span);
      break;
  }
  const bool in_a_script =
      signature.kind != ast::CalleeKind::builtin && signature.span.end != 0 && !context.is_of_library(signature.span);
  if (in_a_script) {
    diagnostic->label(signature.span, "defined here");
  } else {
    diagnostic->note("it is declared as `" + describe(signature, context.store()) + "`");
  }
  explain_call(context, {signature}, call, *diagnostic);
  if (mismatch.kind == Mismatch::Kind::type)
    suggest_for_argument(context, signature, *argument->value, mismatch.other, *diagnostic);
}

void report_ambiguous(Context& context, const std::vector<const Signature*>& equals, const ast::Call& call) {
  Diagnostic& diagnostic = context.diagnostics.report(DiagnosticKind::ambiguous_call, call.callee.span,
                                                      call.callee.text, argument_types_text(context, call));
  list_candidates(context, call, equals, diagnostic);
}

void report_no_overload(Context& context, const std::vector<Signature>& candidates, const ast::Call& call) {
  Diagnostic& diagnostic = context.diagnostics.report(DiagnosticKind::no_overload, call.callee.span, call.callee.text,
                                                      argument_types_text(context, call));
  std::vector<const Signature*> all;
  for (const Signature& candidate : candidates) all.push_back(&candidate);
  list_candidates(context, call, std::move(all), diagnostic);
  explain_call(context, candidates, call, diagnostic);
  explain_argument(context, candidates, call, diagnostic);
  if (const auto hidden = context.not_imported.find(call.callee.text); hidden != context.not_imported.end())
    diagnostic.note(fmt::format("{} {} more functions of this name", imports_text(hidden->second),
                                hidden->second.size() == 1 ? "has" : "have"));
}

}  // namespace raddle::check_detail
