#include "compiler/tool/executable/script_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "stdlib/builtins.hpp"

namespace raddle::tool {

namespace {

using stdlib::BasicType;
using stdlib::BuiltinEffect;

/// Some output, or an input whatever its argument, has such a type.
bool has_type(const stdlib::BuiltinSignature& signature, auto is) {
  const auto is_always = [&](const stdlib::SignatureInput& input) {
    return std::ranges::all_of(input.alternatives, is);
  };
  return std::ranges::any_of(signature.outputs, is) || std::ranges::any_of(signature.inputs, is_always);
}

/// The user does not know it: what he has written is done by it.
bool is_hidden(std::string_view function) { return function.starts_with('@') || function.ends_with('_'); }

/// Why a function of the library is in no kernel, behind its name.
std::string what_it_does(std::string_view name) {
  constexpr const char* no_more = "is no function of numbers";
  constexpr const char* with_arrays = "works with whole arrays";
  if (name == "@extent" || name == "@joint_extent" || name == "@fitting" || name == "@fits_slice")
    return "works with whole arrays, whose shapes only workers check";
  const auto builtin = std::ranges::find(stdlib::builtins(), name, &stdlib::Builtin::name);
  if (builtin == stdlib::builtins().end()) return no_more;
  switch (builtin->effect) {
    case BuiltinEffect::prints:
    case BuiltinEffect::waits_and_prints: return "prints";
    case BuiltinEffect::draws: return "draws random numbers";
    case BuiltinEffect::reads_words: return "reads the words behind the script";
    case BuiltinEffect::waits: return "waits for something";
    case BuiltinEffect::asks: return "asks the system";
    case BuiltinEffect::looks: return "looks at files";
    default: break;
  }
  if (is_hidden(name)) return with_arrays;
  const stdlib::BuiltinSignature& signature = stdlib::signature_of(*builtin);
  const auto is_of = [&](BasicType one, BasicType other) {
    return has_type(signature, [&](const stdlib::SignatureType& type) {
      return type.element.basic == one || type.element.basic == other;
    });
  };
  if (is_of(BasicType::file, BasicType::url)) return "works with files";
  if (is_of(BasicType::string, BasicType::blob)) return "works with strings";
  if (has_type(signature, [](const stdlib::SignatureType& type) { return type.is_bag; })) return "works with bags";
  return has_type(signature, [](const stdlib::SignatureType& type) { return !type.keys.empty(); }) ? with_arrays
                                                                                                   : no_more;
}

/// In marks, if it is short.
std::string written_at(const SourceMap& sources, Span span) {
  constexpr std::size_t most_characters = 40;
  const std::string_view text =
      std::string_view(sources.at(span.file).text()).substr(span.begin, span.end - span.begin);
  if (text.empty() || text.size() > most_characters || text.contains('\n')) return "what is done there";
  return fmt::format("`{}`", text);
}

}  // namespace

vm::CallPlace place_in_script(const SourceMap& sources, vm::Place place, std::span<const vm::Place> calls) {
  const auto is_of_library = [&](const vm::Place& of) { return sources.at(of.file).is_of_library(); };
  const auto script = std::ranges::find_if_not(calls, is_of_library);
  if (is_of_library(place) && script != calls.end()) {
    place = *script;
    calls = calls.subspan(static_cast<std::size_t>(script - calls.begin()) + 1);
  }
  return {place, {calls.begin(), calls.end()}};
}

ObstacleText text_of_obstacle(const SourceMap& sources, const vm::Obstacle& why, const vm::CallPlace& around) {
  if (why.path.empty()) return {why.text, ""};
  std::vector<vm::Place> calls(why.path.begin() + 1, why.path.end());
  calls.push_back(around.place);
  calls.insert(calls.end(), around.calls.begin(), around.calls.end());
  const Span at = span_of(place_in_script(sources, why.path.front(), calls).place);
  const std::string verb = why.is_builtin ? what_it_does(why.name) : why.text;
  const bool is_of_script = !sources.at(why.path.front().file).is_of_library();
  if (is_of_script && !why.name.empty() && !is_hidden(why.name))
    return {fmt::format("`{}` {}", why.name.substr(0, why.name.find('.')), verb),
            why.is_builtin ? sources.describe(at) : ""};
  return {fmt::format("{} {}", written_at(sources, at), verb), sources.describe(at)};
}

}  // namespace raddle::tool
