#include "compiler/emit/builtin_arguments.hpp"

#include <algorithm>

namespace raddle::emit {

namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Splits at commas; a default text such as `string=","` may hold one.
std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '"') quoted = !quoted;
    if (list[i] != ',' || quoted) continue;
    parts.push_back(trimmed(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (const std::string_view last = trimmed(list.substr(begin)); !last.empty()) parts.push_back(last);
  return parts;
}

InputMark mark_of(std::string_view input) {
  if (input.starts_with("&&")) return InputMark::reference;
  return input.starts_with('&') ? InputMark::closed : InputMark::none;
}

}  // namespace

InputMark BuiltinArguments::mark(std::size_t input) const {
  return inputs.empty() ? InputMark::none : inputs[std::min(input, inputs.size() - 1)];
}

BuiltinArguments builtin_arguments(std::string_view signature) {
  // OUTPUTS(INPUTS), outputs perhaps in parentheses; `()` alone as outputs means none
  std::string_view outputs;
  std::size_t inputs_begin;
  if (signature.starts_with('(')) {
    const std::size_t end = signature.find(')');
    outputs = signature.substr(1, end - 1);
    inputs_begin = signature.find('(', end);
  } else {
    inputs_begin = signature.find('(');
    outputs = signature.substr(0, inputs_begin);
  }
  BuiltinArguments result;
  for (const std::string_view each : split(outputs)) {
    if (each == "file" || each == "url")
      ++result.file_output_count;
    else
      result.returns_void.push_back(each == "void");
  }
  if (inputs_begin == std::string_view::npos) return result;
  const std::size_t inputs_end = signature.rfind(')');
  for (const std::string_view each : split(signature.substr(inputs_begin + 1, inputs_end - inputs_begin - 1))) {
    result.inputs.push_back(mark_of(each));
    result.has_varargs = each.find("...") != std::string_view::npos;
  }
  return result;
}

}  // namespace raddle::emit
