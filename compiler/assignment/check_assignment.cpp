#include "compiler/assignment/check_assignment.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/assignment/check_cycles.hpp"
#include "compiler/assignment/early_reads.hpp"
#include "compiler/assignment/check_paths.hpp"

namespace raddle::check_detail {
namespace {

/// What is to be said about one variable when all of its writes and reads are known.
class Verdict {
 public:
  Verdict(Context& context, Variable& variable, const std::vector<VariableUse>& all, const VariableUse& use)
      : context_(context), variable_(variable), all_(all), use_(use), type_(context.store().base(variable.type)) {}

  void report() {
    if (use_.writes.empty()) return never_assigned();
    if (variable_.role != VariableRole::output && is_unused()) {
      warn_unused(use_.is_updated ? "is updated but never read" : "is assigned but never read");
      return;
    }
    if (has_fields(type_)) {
      Path path;
      check_parts(type_, path, variable_.name);
    } else {
      check_definite({}, variable_.name);
    }
    report_incomplete();
  }

 private:
  bool is_collection() const {
    return context_.store().is_array(type_) || context_.store().kind(type_) == TypeKind::bag;
  }
  bool has_fields(TypeId type) const {
    return context_.store().kind(type) == TypeKind::structure && !context_.store().is_dense(type);
  }

  /// Values whose only purpose is to be read. A file, a void or a url of a given name may be made for the making's
  /// sake; the variables of a module are there for those who import it.
  bool is_unused() const {
    if (variable_.role == VariableRole::global && variable_.span.file != context_.main_file) return false;
    const bool reported = std::ranges::any_of(use_.writes, &Write::reported);
    const bool is_read_in_loop =
        std::ranges::any_of(use_.in_loops, [this](VariableId inside) { return !all_[inside].reads.empty(); });
    return use_.reads.empty() && !is_read_in_loop && !reported && type_ != TypeStore::file &&
           type_ != TypeStore::void_ && use_.mapping == nullptr;
  }

  void warn_unused(const char* how) {
    // after an error what is unused may well be its consequence
    if (context_.diagnostics.has_errors() || variable_.name.starts_with('_')) return;
    if (context_.is_of_library(variable_.span)) return;  // an offer to the scripts
    Diagnostic& told =
        context_.diagnostics.report(DiagnosticKind::unused_variable, variable_.span, variable_.name, how);
    const auto is_it = [&](const ScriptParameter& each) {
      return &context_.program.variables[each.variable] == &variable_;
    };
    if (std::ranges::any_of(context_.program.parameters, is_it))
      told.note("if it only tells the points of a sweep apart, write `@suppress=unused_variable` before it");
  }

  /// The name of a file that is mapped is there without the file.
  bool awaits(const Read& read) const {
    return read.awaits || !(use_.mapping != nullptr || variable_.role == VariableRole::output);
  }

  const Read* first_awaiting_read() const {
    const auto found = std::ranges::find_if(use_.reads, [&](const Read& read) { return awaits(read); });
    return found == use_.reads.end() ? nullptr : &*found;
  }

  /// Where a variable of nearly the same name is declared by its assignment and never read, it may be meant.
  Diagnostic& show_misspelt(Diagnostic& diagnostic) {
    std::vector<std::string> names;
    std::vector<VariableId> ids;
    for (VariableId id = 0; id < all_.size(); ++id) {
      const Variable& other = context_.variable(id);
      if (!all_[id].is_implicit || !all_[id].reads.empty() || other.span.file != variable_.span.file) continue;
      if (other.name == variable_.name) continue;  // of another function
      names.push_back(other.name);
      ids.push_back(id);
    }
    const auto at = std::ranges::find(names, nearest_name(variable_.name, names));
    if (at == names.end()) return diagnostic;
    const VariableId found = ids[static_cast<std::size_t>(at - names.begin())];
    context_.silenced.insert(found);
    return diagnostic.label(context_.variable(found).span,
                            "`" + *at + "` is declared by this assignment; did you mean `" + variable_.name + "`?");
  }

  void never_assigned() {
    const Read* read = first_awaiting_read();
    if (variable_.role == VariableRole::output) {
      Diagnostic& diagnostic = show_misspelt(
          context_.diagnostics.report(DiagnosticKind::output_never_assigned, variable_.span, variable_.name));
      if (type_ == TypeStore::void_)
        diagnostic.note("assign it behind what it stands for: `... => " + variable_.name + " = make_void();`");
      if (context_.store().is_array(type_)) diagnostic.note("if it is to be empty: `" + variable_.name + " = [];`");
    } else if (read == nullptr) {
      if (use_.mapping != nullptr) {
        context_.diagnostics.report(DiagnosticKind::mapped_not_written, variable_.span, variable_.name);
      } else if (use_.reads.empty()) {
        warn_unused("is never used");
      }
    } else if (variable_.has_no_elements) {
      return;
    } else if (is_collection()) {
      show_misspelt(context_.diagnostics.report(DiagnosticKind::never_filled, variable_.span, variable_.name))
          .label(read->span, "read here");
    } else {
      Diagnostic& diagnostic =
          show_misspelt(context_.diagnostics.report(DiagnosticKind::never_assigned, read->span, variable_.name)
                            .label(variable_.span, "declared here"));
      if (use_.mapping != nullptr) diagnostic.note("`input(...)` makes a file of the name of one that exists");
    }
  }

  /// A part that some paths leave unassigned.
  struct Incomplete {
    std::string name;
    const Write* write;  ///< one of those that hang on a condition
    const Read* read;    ///< the first that would wait for ever; null: only whoever calls the function
  };

  /// Notes where all whole writes of the part at `path` hang on a condition, and something needs it without that.
  void check_definite(const Path& path, const std::string& name) {
    const Write* possible = nullptr;
    for (const Write& write : use_.writes) {
      if (write.path != path && starts_with(write.path, path)) return;  // by element: may be on some paths only
      if (write.reported && lies_in(path, write.path)) return;          // what may be assigned twice is said to be that
      if (write.path == path && possible == nullptr) possible = &write;
    }
    if (possible == nullptr) return;
    const auto read = std::ranges::find_if(use_.reads, [&](const Read& each) {
      const bool is_of_part = starts_with(each.path, path) || starts_with(path, each.path);
      return awaits(each) && is_of_part && !is_assigned_at(each, use_.writes, path);
    });
    const bool is_needed = read != use_.reads.end();
    const bool is_needed_by_caller =
        variable_.role == VariableRole::output && !is_assigned(use_.writes, path, always());
    if (is_needed || is_needed_by_caller) incomplete_.push_back({name, possible, is_needed ? &*read : nullptr});
  }

  /// One warning for all parts that hang on one condition.
  void report_incomplete() {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Diagnostic*> by_condition;
    for (const Incomplete& found : incomplete_) {
      const Span condition = found.write->condition.value_or(found.write->span);
      Diagnostic*& diagnostic = by_condition[{condition.file, condition.begin, condition.end}];
      if (diagnostic != nullptr) {
        diagnostic->label(found.write->span, "`" + found.name + "`, too");
        continue;
      }
      diagnostic = &context_.diagnostics.report(DiagnosticKind::may_be_unassigned, found.write->span, found.name);
      if (found.write->condition) diagnostic->label(condition, "depends on this");
      if (found.read != nullptr) diagnostic->label(found.read->span, "read here: would wait forever");
    }
  }

  static bool starts_with(const Path& path, const Path& prefix) {
    return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
  }

  /// Every field of a structure that is assigned by fields.
  void check_parts(TypeId type, Path& path, const std::string& name) {
    bool whole = false;
    bool some = false;
    for (const Write& write : use_.writes) {
      whole = whole || write.path == path;
      some = some || starts_with(write.path, path);
    }
    if (whole) return check_definite(path, name);
    if (!some) return report_part(path, name);
    const TypeId base = context_.store().base(type);
    if (!has_fields(base)) return;
    const auto& fields = context_.store().structure(base).fields;
    for (std::uint32_t i = 0; i < fields.size(); ++i) {
      path.push_back({.kind = Step::Kind::field, .field = i, .key = {}});
      check_parts(fields[i].type, path, name + "." + fields[i].name);
      path.pop_back();
    }
  }

  void report_part(const Path& path, const std::string& name) {
    for (const Read& read : use_.reads) {
      if (!starts_with(read.path, path)) continue;
      context_.diagnostics.report(DiagnosticKind::never_assigned, read.span, name)
          .label(variable_.span, "`" + variable_.name + "` declared here");
      return;
    }
    if (missing_ != nullptr)
      missing_->remark("nor is `" + name + "`");
    else
      missing_ = &context_.diagnostics.report(DiagnosticKind::field_never_assigned, variable_.span, name);
  }

  Context& context_;
  Variable& variable_;
  const std::vector<VariableUse>& all_;
  const VariableUse& use_;
  TypeId type_;
  std::vector<Incomplete> incomplete_;
  Diagnostic* missing_ = nullptr;  ///< fields that are never assigned: one warning for all
};

/// Top-level variables of a piece of a session are its inputs and outputs; but for files that are mapped and not
/// written.
void divide_variables(Context& context, const std::vector<VariableUse>& all) {
  for (VariableId id = 0; id < all.size(); ++id) {
    if (context.variable(id).role != VariableRole::global) continue;
    if (!all[id].writes.empty())
      context.program.results.push_back({id});
    else if (all[id].mapping == nullptr)
      context.program.parameters.push_back({id, nullptr, ""});
  }
}

bool is_excused(const Context& context, VariableId id, const VariableUse& use) {
  const Variable& variable = context.program.variables[id];
  const bool by_role = variable.role == VariableRole::input || variable.role == VariableRole::constant ||
                       variable.role == VariableRole::loop;
  if (context.options.piece != nullptr && variable.role == VariableRole::global) return true;  // later pieces may do it
  return by_role || !use.is_declared || variable.type == TypeStore::error || context.silenced.contains(id);
}

/// What a block makes and nobody reads was to be the variable that is declared behind the block.
void report_late_declarations(Context& context, const std::vector<VariableUse>& all) {
  for (const auto& [declared, made] : context.made_before) {
    if (!all[made].is_implicit || !all[made].reads.empty() || all[declared].is_implicit) continue;
    const Variable& variable = context.variable(declared);
    context.diagnostics.report(DiagnosticKind::declared_late, variable.span, variable.name)
        .label(context.variable(made).span, "this makes another `" + variable.name + "`, of its block")
        .note("move the declaration to a place before the block");
    context.silenced.insert(declared);
    context.silenced.insert(made);
  }
}

}  // namespace

void check_assignment(Context& context) {
  CollectedUse use_of_all = collect_use(context);
  std::vector<VariableUse>& all = use_of_all.variables;
  if (context.options.piece != nullptr) divide_variables(context, all);
  for (const ScriptResult& result : context.program.results)
    all[result.variable].reads.push_back({{}, context.variable(result.variable).span});
  report_late_declarations(context, all);
  report_cycles(context, all);
  for (VariableId id = 0; id < all.size(); ++id) {
    Variable& variable = context.variable(id);
    const VariableUse& use = all[id];
    variable.is_read = !use.reads.empty() || use.is_updated;
    const TypeId type = context.store().base(variable.type);
    const bool collection = context.store().is_array(type) || context.store().kind(type) == TypeKind::bag;
    const bool in_parts = std::ranges::any_of(use.writes, [](const Write& write) { return !write.path.empty(); });
    // a collection that nothing writes is empty, not unset, as an array of no elements is: it is made where it is
    // declared
    const bool is_input = context.options.piece != nullptr && variable.role == VariableRole::global;
    const bool stays_empty =
        (collection || variable.has_no_elements) && use.writes.empty() && use.is_declared && !is_input;
    variable.written_by_element = in_parts || stays_empty;
    if (!is_excused(context, id, use)) Verdict(context, variable, all, use).report();
  }
  check_paths(context, use_of_all);
  report_early_reads(context);
}

}  // namespace raddle::check_detail
