#include "compiler/tool/sweep/where.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>

#include "compiler/tool/executable/executable.hpp"
#include "compiler/tool/executable/library_pages.hpp"
#include "compiler/parse/lexemes.hpp"
#include "compiler/parse/parse.hpp"
#include "compiler/tool/formats/scan.hpp"
#include "vm/interpret/run.hpp"
#include "vm/value/array.hpp"

namespace raddle::tool {

namespace {

using sweep::ValueType;

std::string_view type_name(ValueType type) {
  switch (type) {
    case ValueType::int_: return "int";
    case ValueType::float_: return "float";
    case ValueType::string: return "string";
  }
  return "";
}

/// Does the text have this word, be it as a name or not?
bool has_word(std::string_view text, std::string_view word) {
  const auto is_part = [&](std::size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    if ((at == 0 || !is_part(at - 1)) && !is_part(at + word.size())) return true;
  return false;
}

/// Imports of the library's functions and constants that the text names, parameters aside: a condition can have none.
std::string imports_for(std::string_view text, const std::vector<std::string>& parameters) {
  std::set<std::string> modules;
  for (const LibraryPage& page : library_pages())
    if (!page.module.empty() && has_word(text, page.name) &&
        std::ranges::find(parameters, page.name) == parameters.end())
      modules.insert(page.module);
  std::string imports;
  for (const std::string& module : modules) imports += fmt::format("import {};\n", module);
  return imports;
}

/// `keep = EXPRESSION`, and what is to stand behind it.
std::unique_ptr<ast::Module> parse_assignment(const SourceMap& sources, Span expression, std::string_view behind,
                                              Diagnostics& found) {
  const Span begin{expression.file, expression.begin, expression.begin},
      end{expression.file, expression.end, expression.end};
  ExpandedText text;
  text.append("keep = ", begin, PartOrigin::replaced);
  text.append(sources.at(expression.file).text(), expression, PartOrigin::copied);
  if (!behind.empty()) text.append(behind, end, PartOrigin::replaced);
  text.end_at(end);
  return parse(expression.file, sources, found, &text);
}

constexpr std::string_view end_of_condition = "the end of the condition";

/// An error of a script's text in words of the condition, which is all that was typed.
Diagnostic told_of_condition(Diagnostic fault) {
  const auto replace = [&](std::string_view words, std::string_view others) {
    if (const std::size_t at = fault.message.find(words); at != std::string::npos)
      fault.message.replace(at, words.size(), others);
  };
  replace("`;` after the statement", end_of_condition);
  replace(", expected `;`", fmt::format(", expected {}", end_of_condition));
  replace("end of file", end_of_condition.substr(4));
  return fault;
}

/// Why the text of a file is not one expression.
std::optional<Diagnostic> syntax_fault(const SourceMap& sources, Span expression) {
  Diagnostics whole, open;
  const auto module = parse_assignment(sources, expression, "\n;", whole);
  const std::string_view text = sources.at(expression.file).text();
  if (!whole.has_errors()) {
    if (module->statements.statements.size() == 1) return std::nullopt;
    for (const Lexeme& lexeme : lexemes_of(text))
      if (text.substr(lexeme.begin, lexeme.end - lexeme.begin) == ";")
        return told_of_condition(whole.report(DiagnosticKind::unexpected_token,
                                              Span{expression.file, lexeme.begin, lexeme.end}, "`;`", "`;`"));
    return std::nullopt;
  }
  parse_assignment(sources, expression, "", open);  // errors at its end speak of that, and not of what we put there
  open.order_by_position(0);
  const auto& faults = open.all();
  const auto speaks_of_end = [](const Diagnostic& each) { return each.message.find("`;`") != std::string::npos; };
  const auto first = std::ranges::find_if_not(faults, speaks_of_end);
  const Diagnostic& fault = first == faults.end() ? faults.front() : *first;
  if (fault.kind != DiagnosticKind::reserved_word) return told_of_condition(fault);
  const std::string_view word = text.substr(fault.span.begin, fault.span.end - fault.span.begin);
  return whole.report(DiagnosticKind::unexpected_token, fault.span, fmt::format("`{}`", word), "an expression")
      .note("a condition is one expression; what it names of the library is imported by itself");
}

/// The expression as a program: a function of one point, called for each of a block. The parameters' values come as
/// arrays, what is found goes out as one.
class Filter {
 public:
  static constexpr const char* entry = "keep_points";

  Filter(const std::string& expression, const std::vector<sweep::Parameter>& parameters,
         const std::vector<FixedParameter>& fixed)
      : expression_(expression), parameters_(parameters) {
    std::vector<std::string> names;
    for (const FixedParameter& each : fixed) {
      names.push_back(each.name);
      if (has_word(expression, each.name)) declarations_ += each.declaration + ' ';
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      names.push_back(parameters[i].name);
      if (has_word(expression, parameters[i].name)) used_.push_back({parameters[i], i});
    }
    imports_ = imports_for(expression, names);
  }

  bool compile() {
    const std::uint32_t file = session_.sources.add("--where", expression_);
    const auto length = static_cast<std::uint32_t>(expression_.size());
    if (std::optional<Diagnostic> fault = syntax_fault(session_.sources, {file, 0, length})) {
      session_.diagnostics.take(std::move(*fault));
      session_.print_diagnostics();
      return false;
    }
    std::string formals, arrays, elements;
    for (const auto& [parameter, index] : used_) {
      formals += fmt::format("{}{} {}", formals.empty() ? "" : ", ", type_name(parameter.type), parameter.name);
      arrays += fmt::format(", {} {}[]", type_name(parameter.type), parameter.name);
      elements += fmt::format("{}{}[point]", elements.empty() ? "" : ", ", parameter.name);
    }
    ExpandedText text;
    text.append(fmt::format("{}(boolean keep) keep_point({}) {{ {}keep = (", imports_, formals, declarations_),
                {file, 0, 0}, PartOrigin::replaced);
    text.append(expression_, {file, 0, length}, PartOrigin::copied);
    text.append(fmt::format("\n); }}\n(boolean keep[]) {}(int count{}) {{\n"
                            "foreach point in [0:count - 1] {{ keep[point] = keep_point({}); }} }}\n",
                            entry, arrays, elements),
                {file, length, length}, PartOrigin::replaced);
    text.end_at({file, length, length});
    std::optional<Compilation> compilation = tool::compile(session_, file, {.text = &text, .entry = entry});
    if (session_.print_diagnostics() || !compilation) return false;
    executable_.emplace(std::move(*compilation), session_.options);
    executable_->forget_places();  // where memory ends, places are looked up in a swept script
    return true;
  }

  std::expected<std::vector<bool>, std::string> keep(const std::vector<sweep::Point>& points) const {
    vm::RunOptions options;
    options.keep_going = options.notes_iterations = true;  // all that fail are known, and so the first of them
    options.arguments.push_back(vm::Value::of(static_cast<std::int64_t>(points.size())));
    for (const auto& [parameter, index] : used_) options.arguments.push_back(column(points, index, parameter.type));
    const vm::RunResult result = vm::run(executable_->program(), options);
    if (!result.failures.empty()) return std::unexpected(fault_of(points, result));
    std::vector<bool> kept;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const vm::Value value = result.results.front().as_array().get(vm::Value::of(static_cast<std::int64_t>(i)));
      kept.push_back(value.as_bool());
    }
    return kept;
  }

 private:
  /// Of the first point that fails.
  std::string fault_of(const std::vector<sweep::Point>& points, const vm::RunResult& result) const {
    const auto first = std::ranges::min_element(result.failed_iterations);
    const std::size_t index =
        first == result.failed_iterations.end() ? 0 : static_cast<std::size_t>(*first);  // 0: there is one point only
    if (points.size() > 1)  // by itself, for what it fails with
      if (const auto kept = keep({points[index]}); !kept) return kept.error();
    return fmt::format("--where: {}, at {}", result.failures.front().message,
                       sweep::values_text(parameters_, points[index]));
  }

  static vm::Value column(const std::vector<sweep::Point>& points, std::size_t index, ValueType type) {
    std::vector<vm::Value> values;
    values.reserve(points.size());
    for (const sweep::Point& point : points) {
      const std::string& text = point.values[index];
      switch (type) {
        case ValueType::int_: values.push_back(vm::Value::of(sweep::read_int(text))); break;
        case ValueType::float_: values.push_back(vm::Value::of(sweep::read_number(text).value_or(0))); break;
        case ValueType::string: values.push_back(vm::Value::of(text)); break;
      }
    }
    return vm::Value::of_object(vm::ValueKind::array, vm::Array::dense(std::move(values)));
  }

  struct Used {
    sweep::Parameter parameter;
    std::size_t index;  // of Point::values
  };
  std::string expression_, declarations_, imports_;
  std::vector<sweep::Parameter> parameters_;
  std::vector<Used> used_;
  Session session_;
  std::optional<Executable> executable_;
};

}  // namespace

std::expected<sweep::PointFilter, int> make_filter(const std::string& expression,
                                                   const std::vector<sweep::Parameter>& parameters,
                                                   const std::vector<FixedParameter>& fixed) {
  const auto filter = std::make_shared<Filter>(expression, parameters, fixed);
  if (!filter->compile()) return std::unexpected(exit_usage);
  return [filter](const std::vector<sweep::Point>& points) { return filter->keep(points); };
}

}  // namespace raddle::tool
