#include "compiler/check/check_paths.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "compiler/check/builtin_signatures.hpp"
#include "compiler/check/constant_value.hpp"

namespace raddle::check_detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* own_file_each = "give each iteration a file of its own, as in `file f <\"out-%i.txt\" % i>`";

/// Devices, pipes and folders may be written by any number of calls.
bool may_be_shared(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return path.starts_with("/dev/") || path.starts_with("/proc/") || path.ends_with('/') ||
         (fs::exists(status) && !fs::is_regular_file(status));
}

/// The path of a file that is mapped to one known before the run; "" if there is none.
std::string path_of(const Context& context, VariableId id, const VariableUse& use) {
  const Variable& variable = context.program.variables[id];
  if (use.mapping == nullptr || context.silenced.contains(id)) return {};
  if (context.store().base(variable.type) != TypeStore::file) return {};
  const std::optional<ConstantValue> path = constant_value(context, *use.mapping);
  const std::string* text = path ? std::get_if<std::string>(&*path) : nullptr;
  return text == nullptr || may_be_shared(*text) ? "" : fs::path(*text).lexically_normal().string();
}

/// A call makes the file. What is a name for another file, or may be, is for the run: a file that is copied to itself
/// is not written.
bool makes_file(const ast::Expr* value) {
  if (value == nullptr || value->kind != ast::ExprKind::Call) return false;
  const auto& call = ast::as<const ast::Call>(*value);
  if (call.callee_kind == ast::CalleeKind::builtin)
    return !returns_existing_files(stdlib::builtins()[call.callee_index]);
  return call.callee_kind == ast::CalleeKind::function;
}

/// The file is copied from a loop's variable: each time from another one.
bool is_of_iteration(const Context& context, const ast::Expr* value) {
  if (value == nullptr || value->kind != ast::ExprKind::Name) return false;
  const VariableId id = ast::as<ast::Name>(*value).variable;
  return id != ast::no_variable && context.program.variables[id].role == VariableRole::loop;
}

const Write* definite_write(const Context& context, const VariableUse& use) {
  const auto found = std::ranges::find_if(use.writes, [&](const Write& write) {
    return write.path.empty() && write.definite && (makes_file(write.value) || is_of_iteration(context, write.value));
  });
  return found == use.writes.end() ? nullptr : &*found;
}

class PathCheck {
 public:
  PathCheck(Context& context, const std::vector<VariableUse>& all) : context_(context), all_(all) {}

  void run() {
    std::map<std::string, std::vector<VariableId>> by_path;
    for (VariableId id = 0; id < all_.size(); ++id) {
      const std::string path = path_of(context_, id, all_[id]);
      if (path.empty() || definite_write(context_, all_[id]) == nullptr) continue;
      report_repeated(id, path);
      report_second(id, path, by_path[path]);
    }
  }

 private:
  void report_second(VariableId id, const std::string& path, std::vector<VariableId>& earlier) {
    const auto first =
        std::ranges::find_if(earlier, [&](VariableId other) { return all_[other].around == all_[id].around; });
    if (first == earlier.end()) return earlier.push_back(id);
    if (are_one(*first, id)) return;
    context_.diagnostics
        .report(DiagnosticKind::path_written_twice, all_[id].mapping->span, path, context_.variable(*first).name,
                context_.variable(id).name)
        .label(all_[*first].mapping->span, "mapped here")
        .note("give each file a name of its own; what was written first would be lost");
  }

  /// Outputs of one call, which knows what it does.
  bool are_one(VariableId one, VariableId other) const {
    return definite_write(context_, all_[one])->value == definite_write(context_, all_[other])->value;
  }

  /// The loops that are directly around the declaration: branches between may be taken once only.
  void report_repeated(VariableId id, const std::string& path) {
    const VariableUse& use = all_[id];
    const Surrounding* repeating = nullptr;
    for (auto each = use.around.rbegin(); each != use.around.rend() && each->is_loop; ++each) {
      if (each->repeats == Repeats::never) continue;
      if (repeating == nullptr || each->repeats == Repeats::surely) repeating = &*each;
    }
    if (repeating == nullptr) return;
    const bool is_sure = repeating->repeats == Repeats::surely;
    context_.diagnostics
        .report(is_sure ? DiagnosticKind::path_in_loop : DiagnosticKind::path_may_be_in_loop, use.mapping->span, path)
        .label(repeating->span, is_sure ? "the body runs several times" : "the body may run several times")
        .note(own_file_each);
  }

  Context& context_;
  const std::vector<VariableUse>& all_;
};

}  // namespace

void check_paths(Context& context, const std::vector<VariableUse>& all) { PathCheck(context, all).run(); }

}  // namespace raddle::check_detail
