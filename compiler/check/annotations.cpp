#include "compiler/check/annotations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace raddle::check_detail {
namespace {

constexpr unsigned bit(AnnotationPlace place) { return 1U << static_cast<unsigned>(place); }
constexpr unsigned on_definition = bit(AnnotationPlace::definition);
constexpr unsigned on_call = bit(AnnotationPlace::call);
constexpr unsigned on_loop = bit(AnnotationPlace::loop);
constexpr unsigned on_declaration = bit(AnnotationPlace::declaration);
constexpr unsigned anywhere = on_definition | on_call | on_loop | on_declaration;

enum class ValueRule : std::uint8_t { none, optional, needed };

struct KnownAnnotation {
  std::string_view name;
  unsigned places;
  ValueRule value;
  TypeId type = TypeStore::error;
};

constexpr std::array known_annotations = {
    KnownAnnotation{"sync", on_definition | on_loop, ValueRule::none},
    KnownAnnotation{"async", on_loop, ValueRule::none},
    KnownAnnotation{"nosplit", on_loop, ValueRule::none},
    KnownAnnotation{"waitonall", on_loop, ValueRule::none},
    KnownAnnotation{"waiton", on_loop, ValueRule::needed},
    KnownAnnotation{"unroll", on_loop, ValueRule::needed, TypeStore::int_},
    KnownAnnotation{"splitdegree", on_loop, ValueRule::needed, TypeStore::int_},
    KnownAnnotation{"leafdegree", on_loop, ValueRule::needed, TypeStore::int_},
    KnownAnnotation{"pure", on_definition, ValueRule::none},
    KnownAnnotation{"sideeffectfree", on_definition, ValueRule::none},
    KnownAnnotation{"deterministic", on_definition, ValueRule::none},
    KnownAnnotation{"commutative", on_definition, ValueRule::none},
    KnownAnnotation{"deprecated", on_definition, ValueRule::none},
    KnownAnnotation{"checkpoint", on_definition, ValueRule::none},
    KnownAnnotation{"memo", on_definition, ValueRule::none},
    KnownAnnotation{"leaf", on_definition, ValueRule::none},
    KnownAnnotation{"cpu", on_definition | on_loop, ValueRule::none},
    KnownAnnotation{"gpu", on_definition | on_loop, ValueRule::none},
    KnownAnnotation{"isolate", on_definition, ValueRule::none},
    KnownAnnotation{"kernel", on_definition, ValueRule::needed},
    KnownAnnotation{"library", on_definition, ValueRule::needed},
    KnownAnnotation{"python", on_definition, ValueRule::needed},
    KnownAnnotation{"r", on_definition, ValueRule::needed},
    KnownAnnotation{"suppress", anywhere, ValueRule::needed},
    KnownAnnotation{"dispatch", on_definition, ValueRule::needed},
    KnownAnnotation{"copy", on_definition, ValueRule::none},
    KnownAnnotation{"minmax", on_definition, ValueRule::none},
    KnownAnnotation{"assertion", on_definition, ValueRule::none},
    KnownAnnotation{"builtin_op", on_definition, ValueRule::needed},
    KnownAnnotation{"implements", on_definition, ValueRule::needed},
    KnownAnnotation{"stc_intrinsic", on_definition, ValueRule::needed},
    KnownAnnotation{"par", on_definition | on_call, ValueRule::optional, TypeStore::int_},
    KnownAnnotation{"prio", on_definition | on_call, ValueRule::needed, TypeStore::int_},
    KnownAnnotation{"retry", on_definition | on_call, ValueRule::needed, TypeStore::int_},
    KnownAnnotation{"timeout", on_definition | on_call, ValueRule::needed, TypeStore::float_},
    KnownAnnotation{"memory", on_definition | on_call, ValueRule::needed, TypeStore::float_},
    KnownAnnotation{"cores", on_definition | on_call, ValueRule::needed, TypeStore::int_},
    KnownAnnotation{"ok", on_definition | on_call, ValueRule::needed},
    KnownAnnotation{"default", on_call, ValueRule::needed},
    KnownAnnotation{"location", on_call, ValueRule::needed},
    KnownAnnotation{"soft_location", on_call, ValueRule::needed},
    KnownAnnotation{"param", on_declaration, ValueRule::none},
    KnownAnnotation{"result", on_declaration, ValueRule::none},
};

const char* place_text(AnnotationPlace place) {
  switch (place) {
    case AnnotationPlace::definition: return "a function definition";
    case AnnotationPlace::call: return "a call";
    case AnnotationPlace::loop: return "a loop";
    case AnnotationPlace::declaration: return "a declaration or assignment";
  }
  return "";
}

/// "a function definition or a loop"
std::string places_text(unsigned places) {
  std::string text;
  for (const AnnotationPlace place :
       {AnnotationPlace::definition, AnnotationPlace::call, AnnotationPlace::loop, AnnotationPlace::declaration})
    if ((places & bit(place)) != 0) text += fmt::format("{}{}", text.empty() ? "" : " or ", place_text(place));
  return text;
}

void report_unknown(Context& context, const ast::Annotation& annotation, AnnotationPlace place) {
  const std::string& name = annotation.name.text;
  Diagnostic& diagnostic = context.diagnostics.report(DiagnosticKind::unknown_annotation, mark_of(annotation), name);
  std::vector<std::string> candidates;
  for (const KnownAnnotation& known : known_annotations)
    if ((known.places & bit(place)) != 0) candidates.emplace_back(known.name);
  suggest(diagnostic, name, candidates);
}

/// `@suppress=unused_variable`. Swift/T's only one is `unused_output`.
void suppress(Context& context, const ast::Annotation& annotation, Span range) {
  const bool is_word = annotation.value->kind == ast::ExprKind::Name;
  const std::string word = is_word ? ast::as<const ast::Name>(*annotation.value).text : "";
  const auto kind = word == "unused_output" ? DiagnosticKind::unused_app_output : kind_named(word);
  if (kind && severity_of(*kind) == Severity::warning) return context.diagnostics.suppress(*kind, range);
  Diagnostic& diagnostic = context.diagnostics.report(DiagnosticKind::annotation_value, annotation.value->span,
                                                      "suppress", "takes the name of a warning");
  std::vector<std::string> names = names_of(Severity::warning);
  names.emplace_back("unused_output");
  suggest(diagnostic, word, names);
}

}  // namespace

void check_annotations(Context& context, const ast::Annotations& annotations, AnnotationPlace place, Span range) {
  for (const ast::Annotation& annotation : annotations) {
    const std::string& name = annotation.name.text;
    const auto known = std::ranges::find(known_annotations, name, &KnownAnnotation::name);
    if (known == known_annotations.end()) {
      report_unknown(context, annotation, place);
      continue;
    }
    if ((known->places & bit(place)) == 0) {
      context.diagnostics.report(DiagnosticKind::misplaced_annotation, mark_of(annotation), name, place_text(place))
          .note(fmt::format("`@{}` stands before {}", name, places_text(known->places)));
      continue;
    }
    if (name == "suppress" && annotation.value != nullptr) {
      suppress(context, annotation, range);
      continue;  // may be repeated
    }
    if (const ast::Annotation* first = find_annotation(annotations, name); first != &annotation)
      context.diagnostics.report(DiagnosticKind::repeated_annotation, mark_of(annotation), name)
          .label(mark_of(*first), "first given here");
    if (const ast::Annotation* cpu = find_annotation(annotations, "cpu"); name == "gpu" && cpu != nullptr)
      context.diagnostics.report(DiagnosticKind::contradicting_annotations, mark_of(annotation), "cpu", name)
          .label(mark_of(*cpu), "the other one");
    if (known->value == ValueRule::needed && annotation.value == nullptr)
      context.diagnostics.report(DiagnosticKind::annotation_value, mark_of(annotation), name, "needs a value");
    if (known->value == ValueRule::none && annotation.value != nullptr)
      context.diagnostics.report(DiagnosticKind::annotation_value, annotation.value->span, name, "takes no value");
  }
}

TypeId annotation_value_type(const std::string& name) {
  const auto known = std::ranges::find(known_annotations, name, &KnownAnnotation::name);
  return known == known_annotations.end() ? TypeStore::error : known->type;
}

Span mark_of(const ast::Annotation& annotation) {
  Span span = annotation.span;
  span.end = annotation.name.span.end;
  return span;
}

bool is_for_apps(std::string_view name) {
  return name == "retry" || name == "timeout" || name == "cores" || name == "memory" || name == "ok";
}

const ast::Annotation* find_annotation(const ast::Annotations& annotations, std::string_view name) {
  for (const ast::Annotation& annotation : annotations)
    if (annotation.name.text == name) return &annotation;
  return nullptr;
}

bool is_memo(const ast::FunctionDefinition& definition) {
  return std::ranges::any_of(definition.annotations, [](const ast::Annotation& annotation) {
    return annotation.name.text == "memo" || annotation.name.text == "checkpoint";
  });
}

}  // namespace raddle::check_detail
