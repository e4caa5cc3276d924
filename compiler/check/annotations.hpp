#pragma once
// Which annotations exist and where they may stand.
#include "compiler/check/context.hpp"

namespace raddle::check_detail {

enum class AnnotationPlace : std::uint8_t { definition, call, loop, declaration };

/// Reports unknown, misplaced and repeated annotations, and missing or superfluous values. `@suppress` takes effect.
/// @param range  what the annotations stand before
void check_annotations(Context& context, const ast::Annotations& annotations, AnnotationPlace place, Span range);

/// The type that the value of an annotation must have; TypeStore::error if it is a bare word or free.
/// Values of these are expressions, evaluated at the call.
TypeId annotation_value_type(const std::string& name);

/// `@name`, without the value.
Span mark_of(const ast::Annotation& annotation);

/// Retries and limits of programs: they mean nothing to other functions.
bool is_for_apps(std::string_view name);

const ast::Annotation* find_annotation(const ast::Annotations& annotations, std::string_view name);

/// `@memo`, or Swift/T's `@checkpoint`. Such a function becomes two: see Note [memo] in ir/module.hpp.
bool is_memo(const ast::FunctionDefinition& definition);

}  // namespace raddle::check_detail
