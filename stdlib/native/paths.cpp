// Parts of paths, as Tcl's `file dirname`, `tail`, `rootname`, `extension` cut them.
#include "stdlib/native/functions.hpp"
#include "vm/value/file.hpp"

namespace raddle::stdlib::native {
namespace {

using vm::Value;

std::string_view path_of(const Value& value) {
  return value.kind() == vm::ValueKind::file ? value.as_file().path() : value.as_string();
}

std::string_view without_end_slashes(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

// Where the last extension begins: at a dot behind the last slash; else the end.
std::size_t extension_begin(std::string_view path) {
  const std::size_t dot = path.rfind('.'), slash = path.rfind('/');
  const bool has_one = dot != std::string_view::npos && (slash == std::string_view::npos || slash < dot);
  return has_one ? dot : path.size();
}

Result give_part(Results results, std::string_view part) { return give(results, Value::of(std::string(part))); }

}  // namespace

Result dirname_(Call, Arguments arguments, Results results) {
  const std::string_view path = path_of(arguments[0]), trimmed = without_end_slashes(path);
  const std::size_t slash = trimmed.rfind('/');
  if (trimmed.empty()) return give_part(results, path.empty() ? "." : "/");
  if (slash == std::string_view::npos) return give_part(results, ".");
  const std::string_view folder = without_end_slashes(trimmed.substr(0, slash));
  return give_part(results, folder.empty() ? "/" : folder);
}

Result basename_(Call, Arguments arguments, Results results) {
  const std::string_view path = without_end_slashes(path_of(arguments[0]));
  const std::size_t slash = path.rfind('/');
  return give_part(results, slash == std::string_view::npos ? path : path.substr(slash + 1));
}

Result rootname(Call, Arguments arguments, Results results) {
  const std::string_view path = path_of(arguments[0]);
  return give_part(results, path.substr(0, extension_begin(path)));
}

Result extension(Call, Arguments arguments, Results results) {
  const std::string_view path = path_of(arguments[0]);
  return give_part(results, path.substr(extension_begin(path)));
}

}  // namespace raddle::stdlib::native
