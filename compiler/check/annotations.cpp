#include "compiler/check/annotations.hpp"

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

struct Known {
  std::string_view name;
  unsigned places;
  ValueRule value;
  TypeId type = TypeStore::error;
  bool is_supported = true;
};

/// One that changes what a program does and that nothing carries out yet. Those that only say where and in which order
/// things run (`@location`, `@par`, `@sync`, `@cpu`...) are no promises.
consteval Known not_supported(Known known) {
  known.is_supported = false;
  return known;
}

constexpr std::array known_annotations = {
    Known{"sync", on_definition | on_loop, ValueRule::none},
    Known{"async", on_loop, ValueRule::none},
    Known{"nosplit", on_loop, ValueRule::none},
    Known{"unroll", on_loop, ValueRule::needed, TypeStore::int_},
    Known{"splitdegree", on_loop, ValueRule::needed, TypeStore::int_},
    Known{"leafdegree", on_loop, ValueRule::needed, TypeStore::int_},
    Known{"pure", on_definition, ValueRule::none},
    Known{"sideeffectfree", on_definition, ValueRule::none},
    Known{"deterministic", on_definition, ValueRule::none},
    Known{"commutative", on_definition, ValueRule::none},
    Known{"deprecated", on_definition, ValueRule::none},
    Known{"checkpoint", on_definition, ValueRule::none},
    Known{"memo", on_definition, ValueRule::none},
    Known{"leaf", on_definition, ValueRule::none},
    Known{"cpu", on_definition | on_loop, ValueRule::none},
    not_supported({"gpu", on_definition | on_loop, ValueRule::none}),
    Known{"isolate", on_definition, ValueRule::none},
    Known{"library", on_definition, ValueRule::needed},
    Known{"suppress", anywhere, ValueRule::needed},
    Known{"dispatch", on_definition, ValueRule::needed},
    Known{"copy", on_definition, ValueRule::none},
    Known{"minmax", on_definition, ValueRule::none},
    Known{"assertion", on_definition, ValueRule::none},
    Known{"builtin_op", on_definition, ValueRule::needed},
    Known{"implements", on_definition, ValueRule::needed},
    Known{"stc_intrinsic", on_definition, ValueRule::needed},
    Known{"par", on_definition | on_call, ValueRule::optional, TypeStore::int_},
    Known{"prio", on_definition | on_call, ValueRule::needed, TypeStore::int_},
    Known{"retry", on_definition | on_call, ValueRule::needed, TypeStore::int_},
    Known{"timeout", on_definition | on_call, ValueRule::needed, TypeStore::float_},
    Known{"memory", on_definition | on_call, ValueRule::needed, TypeStore::float_},
    Known{"cores", on_definition | on_call, ValueRule::needed, TypeStore::int_},
    Known{"location", on_call, ValueRule::needed},
    Known{"soft_location", on_call, ValueRule::needed},
    Known{"param", on_declaration, ValueRule::none},
    Known{"result", on_declaration, ValueRule::none},
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

void report_unknown(Context& context, const ast::Annotation& annotation, AnnotationPlace place) {
  const std::string& name = annotation.name.text;
  Diagnostic& diagnostic = context.diagnostics.report(DiagnosticKind::unknown_annotation, mark_of(annotation), name);
  std::vector<std::string> candidates;
  for (const Known& known : known_annotations)
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
    const auto known = std::ranges::find(known_annotations, name, &Known::name);
    if (known == known_annotations.end()) {
      report_unknown(context, annotation, place);
      continue;
    }
    if ((known->places & bit(place)) == 0) {
      context.diagnostics.report(DiagnosticKind::misplaced_annotation, mark_of(annotation), name, place_text(place));
      continue;
    }
    if (!known->is_supported)
      context.diagnostics.report(DiagnosticKind::not_supported, annotation.span, "`@" + name + "`");
    if (name == "suppress" && annotation.value != nullptr) {
      suppress(context, annotation, range);
      continue;  // may be repeated
    }
    if (const ast::Annotation* first = find_annotation(annotations, name); first != &annotation)
      context.diagnostics.report(DiagnosticKind::repeated_annotation, mark_of(annotation), name)
          .label(mark_of(*first), "first given here");
    if (known->value == ValueRule::needed && annotation.value == nullptr)
      context.diagnostics.report(DiagnosticKind::annotation_value, mark_of(annotation), name, "needs a value");
    if (known->value == ValueRule::none && annotation.value != nullptr)
      context.diagnostics.report(DiagnosticKind::annotation_value, annotation.value->span, name, "takes no value");
  }
}

TypeId annotation_value_type(const std::string& name) {
  const auto known = std::ranges::find(known_annotations, name, &Known::name);
  return known == known_annotations.end() ? TypeStore::error : known->type;
}

Span mark_of(const ast::Annotation& annotation) {
  Span span = annotation.span;
  span.end = annotation.name.span.end;
  return span;
}

bool is_for_apps(std::string_view name) {
  return name == "retry" || name == "timeout" || name == "cores" || name == "memory";
}

const ast::Annotation* find_annotation(const ast::Annotations& annotations, std::string_view name) {
  for (const ast::Annotation& annotation : annotations)
    if (annotation.name.text == name) return &annotation;
  return nullptr;
}

}  // namespace raddle::check_detail
