#include "compiler/assignment/check_paths.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <system_error>
#include <utility>

#include "compiler/assignment/call_order.hpp"
#include "compiler/assignment/file_order.hpp"
#include "compiler/assignment/read_variables.hpp"
#include "compiler/check/value_text.hpp"
#include "stdlib/builtins.hpp"

namespace raddle::check_detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* own_file_each = "give each iteration a file of its own, as in `file f <\"out-%i.txt\" % i>`";

/// Devices and pipes may be written by any number of calls; folders are no files.
bool may_be_shared(const std::string& path) {
  std::error_code ignored;
  return path.starts_with("/dev/") || path.starts_with("/proc/") || path.ends_with('/') || fs::is_other(path, ignored);
}

/// The path that a file is mapped to.
struct MappedPath {
  std::string key;             ///< equal ones mean equal paths, where the variables in them are the same
  std::string shown;           ///< the path if it is known before the run, else how it is written
  std::size_t loop_depth = 0;  ///< number of loops around what the path depends on
};

MappedPath known_path(const std::string& path) {
  if (may_be_shared(path)) return {};
  const std::string normal = fs::path(path).lexically_normal().string();
  return {.key = normal, .shown = normal};
}

MappedPath computed_path(const Context& context, const std::vector<VariableUse>& all, const ast::Expr& mapping) {
  const std::optional<std::string> text = text_of(context, mapping);
  const std::string& script = context.sources.at(mapping.span.file).text();
  const std::string written = script.substr(mapping.span.begin, mapping.span.end - mapping.span.begin);
  if (!text || written.find("/dev/") != std::string::npos || written.find("/proc/") != std::string::npos) return {};
  MappedPath path{.key = "<" + *text + ">", .shown = written};
  read_variables(context, mapping, [&](VariableId variable, const Read&) {
    path.loop_depth = std::max(path.loop_depth, all[variable].loop_depth);
  });
  return path;
}

/// The text that the expression always is: a constant, or a variable that is given one.
std::optional<std::string> known_text(const Context& context, const std::vector<VariableUse>& all,
                                      const ast::Expr& expr) {
  if (const std::optional<ConstantValue> constant = constant_value(context, expr)) {
    const auto* text = std::get_if<std::string>(&*constant);
    return text == nullptr ? std::nullopt : std::optional(*text);
  }
  const VariableId id = expr.kind == ast::ExprKind::Name ? ast::as<const ast::Name>(expr).variable : ast::no_variable;
  if (id == ast::no_variable || id >= all.size() || all[id].writes.size() != 1) return std::nullopt;
  const auto is_it = [id](const ScriptParameter& parameter) { return parameter.variable == id; };
  if (std::ranges::any_of(context.program.parameters, is_it)) return std::nullopt;
  const Write& write = all[id].writes.front();
  if (!write.definite || !write.path.empty() || write.value == nullptr) return std::nullopt;
  const std::optional<ConstantValue> constant = constant_value(context, *write.value);
  const auto* text = constant ? std::get_if<std::string>(&*constant) : nullptr;
  return text == nullptr ? std::nullopt : std::optional(*text);
}

/// None for what is no mapped file, or may have another path at each use.
std::optional<MappedPath> path_of(const Context& context, VariableId id, const std::vector<VariableUse>& all) {
  const Variable& variable = context.program.variables[id];
  const ast::Expr* mapping = all[id].mapping;
  if (mapping == nullptr || context.silenced.contains(id)) return std::nullopt;
  if (context.store().base(variable.type) != TypeStore::file) return std::nullopt;
  const std::optional<std::string> text = known_text(context, all, *mapping);
  MappedPath path = text ? known_path(*text) : computed_path(context, all, *mapping);
  return path.key.empty() ? std::nullopt : std::optional(std::move(path));
}

/// A call makes the file. What is a name for another file, or may be, is for the run: a file that is copied to itself
/// is not written.
bool makes_file(const ast::Expr* value) {
  if (value == nullptr || value->kind != ast::ExprKind::Call) return false;
  const auto& call = ast::as<const ast::Call>(*value);
  if (call.callee_kind == ast::CalleeKind::builtin)
    return !stdlib::signature_of(call.callee_index).returns_existing_files();
  return call.callee_kind == ast::CalleeKind::function;
}

VariableId copied_file(const ast::Expr* value) {
  if (value == nullptr || value->kind != ast::ExprKind::Name) return ast::no_variable;
  return ast::as<const ast::Name>(*value).variable;
}

/// The file is copied from a loop's variable: each time from another one.
bool is_of_iteration(const Context& context, const ast::Expr* value) {
  const VariableId id = copied_file(value);
  return id != ast::no_variable && context.program.variables[id].role == VariableRole::loop;
}

const Write* definite_write(const Context& context, const VariableUse& use) {
  const auto found = std::ranges::find_if(use.writes, [&](const Write& write) {
    return write.path.empty() && write.definite && (makes_file(write.value) || is_of_iteration(context, write.value));
  });
  return found == use.writes.end() ? nullptr : &*found;
}

bool starts_with(const std::vector<Surrounding>& all, const std::vector<Surrounding>& first) {
  return first.size() <= all.size() && std::ranges::equal(first, std::span(all).first(first.size()));
}

class PathCheck {
 public:
  PathCheck(Context& context, const CollectedUse& use)
      : context_(context), all_(use.variables), orders_(context, all_), calls_(context, use, orders_) {
    orders_.needs_of_call = [this](const ast::Call& call) { return calls_.needs_of(call); };
    constexpr std::size_t most_patterns = 100;  // each is compared with each file
    for (const NotedPath& looked : context.paths_looked_at) {
      const std::optional<std::string> text = known_text(context, all_, *looked.path);
      if (text) report_folder_of_tilde(looked.path->span, *text);
      if (looked.is_in_wait) continue;
      const MappedPath path = text ? known_path(*text) : computed_path(context, all_, *looked.path);
      if (path.key.empty()) continue;
      if (looked.call != "glob")
        names_.emplace(path.key, &looked);
      else if (text && patterns_.size() < most_patterns)
        patterns_.emplace_back(path.key, &looked);
    }
  }

  void run() {
    std::map<std::string, std::vector<VariableId>> by_path;
    for (VariableId id = 0; id < all_.size(); ++id) {
      const std::optional<MappedPath> path = path_of(context_, id, all_);
      if (all_[id].function != nullptr && !all_[id].writes.empty()) order_calls(id, path);
      if (!path || all_[id].writes.empty()) continue;
      const std::size_t loop_depth = depth_of_loop(id, *path);
      const bool follows_itself = loop_depth != 0 && orders_.follows_itself(id, loop_depth);
      if (follows_itself) replaces(id, id, path->shown, loop_depth);
      order(id, path->shown, by_path[path->key]);
      if (definite_write(context_, all_[id]) == nullptr) continue;
      if (path->key == path->shown) report_folder_of_tilde(all_[id].mapping->span, path->shown);
      report_looked_at(id, *path);
      if (!follows_itself) report_repeated(id, *path);
    }
  }

 private:
  /// One is written after the other, or may be; else it is an error, where both surely are written.
  void order(VariableId id, const std::string& path, std::vector<VariableId>& others) {
    constexpr std::size_t most_files = 100;  // each is compared with each
    for (const VariableId other : others) {
      const bool is_inside = starts_with(all_[id].around, all_[other].around);
      if (!is_inside && !starts_with(all_[other].around, all_[id].around)) continue;
      if (!is_made(id) || !is_made(other)) continue;
      if (!order(other, id, path)) break;
    }
    if (others.size() < most_files) others.push_back(id);
  }

  /// Of calls of the function that declares the file. Where the path is one that only the run knows, nothing is taken
  /// to be in order that is not surely so.
  void order_calls(VariableId id, const std::optional<MappedPath>& path) {
    if (context_.options.piece != nullptr) return;  // what later pieces of a session call is not known
    const CallOrders::Order order = calls_.order_of(all_[id].function);
    if (order.unsure != nullptr) {
      if (!path || path->key != path->shown || definite_write(context_, all_[id]) == nullptr) return;
      const std::string& name = context_.variable(id).name;
      context_.diagnostics
          .report(DiagnosticKind::path_order_unknown, order.unsure->call->span, path->shown, name,
                  name + "` in another call of `" + all_[id].function->name.text)
          .label(all_[id].mapping->span, "mapped here")
          .note("it is sure where the outputs that this call waits for are set when all of `" + path->shown +
                "` is written and read");
    }
    context_.variable(id).ordered_levels = order.levels;
  }

  /// @return  whether they may go together
  bool order(VariableId one, VariableId two, const std::string& path) {
    const FileOrder forward = orders_.of(one, two), backward = orders_.of(two, one);
    if (forward == FileOrder::surely) return replaces(one, two, path), true;
    if (backward == FileOrder::surely) return replaces(two, one, path), true;
    const bool are_both_sure = all_[one].around == all_[two].around && definite_write(context_, all_[one]) != nullptr &&
                               definite_write(context_, all_[two]) != nullptr;
    if (!are_both_sure) return true;  // the run tells
    if (are_one(one, two)) return true;
    const bool is_error = forward == FileOrder::unrelated && backward == FileOrder::unrelated;
    context_.diagnostics
        .report(is_error ? DiagnosticKind::path_written_twice : DiagnosticKind::path_order_unknown,
                all_[two].mapping->span, path, context_.variable(one).name, context_.variable(two).name)
        .label(all_[one].mapping->span, "mapped here")
        .note(is_error ? "give each file a name of its own, or let the second one wait: `wait (" +
                             context_.variable(one).name + ") { ... }`"
                       : "`wait (" + context_.variable(forward == FileOrder::perhaps ? one : two).name +
                             ") { ... }` around the other one makes it sure; so does a name of its own for each file");
    if (forward == FileOrder::perhaps) context_.variable(two).replaces_file = true;
    if (backward == FileOrder::perhaps) context_.variable(one).replaces_file = true;
    return !is_error;
  }

  void replaces(VariableId earlier, VariableId later, const std::string& path, std::size_t loop_depth = 0) {
    context_.variable(later).replaces_file = true;
    const std::optional<Span> late = orders_.late_read(earlier, later, loop_depth);
    if (!late) return;
    const std::string& name = context_.variable(earlier).name;
    Diagnostic& diagnostic = context_.diagnostics.report(DiagnosticKind::path_replaced_early, *late, name, path);
    diagnostic.label(all_[later].mapping->span, "it is written anew here")
        .note("give each file a name of its own, or let what writes it wait for what is read here");
  }

  /// It is no copy of a file that may have the same path: then nothing is written.
  bool is_made(VariableId id) const {
    const std::optional<MappedPath> path = path_of(context_, id, all_);
    constexpr int most_names = 100;
    for (int i = 0; i < most_names; ++i) {
      const Writes& writes = all_[id].writes;
      if (writes.size() != 1 || !writes.front().path.empty()) return false;
      const VariableId copied = copied_file(writes.front().value);
      if (copied == ast::no_variable) return makes_file(writes.front().value);
      if (all_[copied].mapping != nullptr) {
        const std::optional<MappedPath> other = path_of(context_, copied, all_);
        return path && other && path->key != other->key;
      }
      id = copied;
    }
    return false;
  }

  /// A `for` or `iterate` alone runs the declaration several times with one path, in one activation of its function:
  /// two of these the run tells apart.
  /// @return  number of loops around its body; 0: there is no such loop, or several
  std::size_t depth_of_loop(VariableId id, const MappedPath& path) const {
    std::size_t depth = 0, found = 0, repeating = 0;
    LoopKind kind = LoopKind::none;
    for (const Surrounding& each : all_[id].around) {
      if (!each.is_loop() || ++depth <= path.loop_depth || each.repeats == Repeats::never) continue;
      kind = each.loop;
      found = depth;
      ++repeating;
    }
    return repeating == 1 && kind != LoopKind::foreach_ ? found : 0;
  }

  /// No shell has seen it.
  void report_folder_of_tilde(Span span, const std::string& path) {
    if (!path.starts_with("~/")) return;
    context_.diagnostics.report(DiagnosticKind::path_has_tilde, span, path)
        .note("`getenv(\"HOME\") + \"" + path.substr(1) + "\"` is in your home folder");
  }

  /// What is looked for by its name is not waited for. In a block that waits, as a loop does, or where the file is
  /// written in a branch only, as one that `file_exists` decides, that may be meant.
  void report_looked_at(VariableId id, const MappedPath& path) {
    const auto [first, end] = names_.equal_range(path.key);
    for (auto name = first; name != end; ++name) report_looked_at(id, path, *name->second);
    if (path.key != path.shown) return;
    for (const auto& [pattern, looked] : patterns_)
      if (fnmatch(pattern.c_str(), path.key.c_str(), FNM_PATHNAME) == 0) report_looked_at(id, path, *looked);
  }

  void report_looked_at(VariableId id, const MappedPath& path, const NotedPath& looked) {
    if (!is_body_of(all_[id].around, looked.function)) return;
    context_.diagnostics
        .report(DiagnosticKind::path_looked_at, looked.span, looked.call, path.shown, context_.variable(id).name)
        .label(all_[id].mapping->span, "mapped here")
        .note("`" + context_.variable(id).name + "` itself is waited for; so is it by `wait (" +
              context_.variable(id).name + ") { ... }` around the call");
  }

  /// Directly, or in loops.
  static bool is_body_of(const std::vector<Surrounding>& around, const ast::FunctionDefinition* function) {
    const std::size_t own = function == nullptr ? 0 : 1;
    if (around.size() < own) return false;
    if (own == 1) {
      const Span &place = around.front().span, &name = function->name.span;
      if (place.file != name.file || place.begin != name.begin) return false;
    }
    return std::all_of(around.begin() + static_cast<std::ptrdiff_t>(own), around.end(),
                       [](const Surrounding& each) { return each.is_loop(); });
  }

  /// Outputs of one call, which knows what it does.
  bool are_one(VariableId one, VariableId other) const {
    return definite_write(context_, all_[one])->value == definite_write(context_, all_[other])->value;
  }

  /// The loops that are directly around the declaration: branches between may be taken once only. What the path
  /// depends on is of another loop, further out.
  void report_repeated(VariableId id, const MappedPath& path) {
    const VariableUse& use = all_[id];
    const Surrounding* repeating = nullptr;
    auto depth = static_cast<std::size_t>(std::ranges::count_if(use.around, &Surrounding::is_loop));
    for (auto each = use.around.rbegin(); each != use.around.rend() && each->is_loop(); ++each, --depth) {
      if (depth <= path.loop_depth) break;
      if (each->repeats == Repeats::never) continue;
      if (repeating == nullptr || each->repeats == Repeats::surely) repeating = &*each;
    }
    if (repeating == nullptr) return;
    const bool is_sure = repeating->repeats == Repeats::surely;
    context_.diagnostics
        .report(is_sure ? DiagnosticKind::path_in_loop : DiagnosticKind::path_may_be_in_loop, use.mapping->span,
                path.shown)
        .label(repeating->span, is_sure ? "the body runs several times" : "the body may run several times")
        .note(own_file_each);
  }

  Context& context_;
  const std::vector<VariableUse>& all_;
  FileOrders orders_;
  CallOrders calls_;
  std::multimap<std::string, const NotedPath*> names_;              // looked for, by MappedPath::key
  std::vector<std::pair<std::string, const NotedPath*>> patterns_;  // the same of `glob`
};

}  // namespace

void check_paths(Context& context, const CollectedUse& use) { PathCheck(context, use).run(); }

}  // namespace raddle::check_detail
