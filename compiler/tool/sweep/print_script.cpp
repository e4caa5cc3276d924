#include "compiler/tool/sweep/print_script.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/source/string_literal.hpp"
#include "compiler/tool/formats/json_text.hpp"
#include "vm/value/shown_text.hpp"

namespace raddle::sweep {
namespace {

constexpr std::uint64_t most_values = 100'000;

/// Parameters under names that mean nothing else in the language.
std::string variable(std::string_view parameter) {
  if (parameter == CommandTemplate::run_seed) return "p_run_seed";
  return fmt::format("p_{}", parameter == "#" ? "number" : parameter);
}

class ScriptPrinter {
 public:
  ScriptPrinter(const Space& space, const CursorOptions& options, const CommandTemplate& command)
      : space_(space), options_(options), command_(command) {}

  std::expected<std::string, std::string> print(const std::string& title) {
    if (!command_.is_plain())
      return std::unexpected("not supported yet: a script with {run.dir}, {%} or a format, as {x:.3f}");
    add("// ");
    for (const char sign : title) add("{}{}", sign, sign == '\n' ? "// " : "");
    add("\n\n");
    for (const Parameter& parameter : space_.parameters()) names_.push_back(parameter.name);
    names_.emplace_back("#");
    names_.emplace_back(CommandTemplate::run_seed);
    if (std::ranges::find(names_, "seed") == names_.end()) names_.emplace_back("seed");
    print_app();
    const std::vector<const Values*> grid = space_.grid();
    const bool is_plain = !grid.empty() && options_.shard_count == 1 && !options_.order_seed && !options_.filter &&
                          !command_.uses("#") && !command_.uses_run_seed();
    const bool is_written = is_plain ? print_grid(grid) : print_list();
    if (!is_written)
      return std::unexpected(fmt::format("not supported yet: a script with more than {} values", most_values));
    if (vm::valid_text(out_) != out_)
      return std::unexpected("a value, or a word of the command, is no UTF-8: no text of a script can name it");
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  /// A word of the command as words of an app: `("--a=" + p_a)`.
  static std::string app_word(const std::vector<CommandTemplate::Piece>& pieces) {
    std::string word;
    for (const CommandTemplate::Piece& piece : pieces) {
      if (!word.empty()) word += " + ";
      word += piece.is_placeholder ? variable(piece.text) : string_literal(piece.text);
    }
    if (pieces.empty()) return string_literal("");
    return pieces.size() == 1 ? word : "(" + word + ")";
  }

  void print_app() {
    for (const std::string& name : names_)
      if (command_.uses(name)) used_.push_back(name);
    std::string formals, words;
    for (const std::string& name : used_)
      formals += fmt::format("{}string {}", formals.empty() ? "" : ", ", variable(name));
    for (const auto& pieces : command_.pieces()) words += " " + app_word(pieces);
    add("app (void done) run_point({}) {{ {} }}\n\n", formals, words.substr(1));
  }

  std::string call(std::string_view index) const {
    std::string arguments;
    for (const std::string& name : used_)
      arguments += fmt::format("{}{}{}", arguments.empty() ? "" : ", ", variable(name), index);
    return fmt::format("run_point({});", arguments);
  }

  bool print_grid(const std::vector<const Values*>& grid) {
    for (std::size_t i = 0; i < grid.size(); ++i) {
      if (grid[i]->size() > most_values) return false;
      add("string values_{}[] = [", names_[i]);
      for (std::uint64_t k = 0; k < grid[i]->size(); ++k)
        add("{}{}", k == 0 ? "" : ", ", string_literal(grid[i]->at(k)));
      add("];\n");
    }
    std::string indent;
    for (std::size_t i = 0; i < grid.size(); ++i) {
      add("{}foreach {} in values_{} {{\n", indent, variable(names_[i]), names_[i]);
      indent += "  ";
    }
    add("{}{}\n", indent, call(""));
    while (!indent.empty()) {
      indent.resize(indent.size() - 2);
      add("{}}}\n", indent);
    }
    return true;
  }

  bool print_list() {
    std::vector<std::string> columns(used_.size());
    Cursor cursor(space_, options_);
    std::uint64_t count = 0;
    while (const std::optional<Point> point = cursor.next()) {
      if (++count * std::max<std::size_t>(used_.size(), 1) > most_values) return false;
      for (std::size_t i = 0; i < used_.size(); ++i)
        columns[i] += (count == 1 ? "" : ", ") + string_literal(command_.plain_value_of(used_[i], *point));
    }
    for (std::size_t i = 0; i < used_.size(); ++i) add("string {}[] = [{}];\n", variable(used_[i]), columns[i]);
    if (count != 0) add("foreach i in [0:{}] {{\n  {}\n}}\n", count - 1, call("[i]"));
    return true;
  }

  const Space& space_;
  const CursorOptions& options_;
  const CommandTemplate& command_;
  std::vector<std::string> names_, used_;
  std::string out_;
};

}  // namespace

std::expected<std::string, std::string> print_script(const Space& space, const CursorOptions& options,
                                                     const CommandTemplate& command, const std::string& title) {
  return ScriptPrinter(space, options, command).print(title);
}

}  // namespace raddle::sweep
