#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "compiler/diagnostics/diagnostics.hpp"

namespace raddle {

namespace {

struct Colours {
  const char* severity = "";
  const char* gutter = "";
  const char* end = "";
};

Colours colours_for(Severity severity, bool colour) {
  if (!colour) return {};
  return {severity == Severity::error ? "\x1b[1;31m" : "\x1b[1;33m", "\x1b[34m", "\x1b[0m"};
}

/// One range to be underlined; `text` is empty for the primary one.
struct Mark {
  Span span;
  std::string text;
  bool primary = false;
  LineColumn at;
};

constexpr std::size_t shown_macros = 2;
constexpr std::size_t shown_includes = 3;   ///< of a chain of files that include each other
constexpr std::size_t shown_columns = 240;  ///< of very long lines only the part around the mark is shown

/// Part of a line cut into characters that are safe to print, one column each.
class Excerpt {
 public:
  /// @param first  its first column, from 0; at most shown_columns are kept
  Excerpt(std::string_view line, std::size_t first) : first_(first) {
    std::size_t column = 0;
    std::size_t at = 0;
    const auto continues = [&] { return at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80; };
    while (at < line.size() && column < first + shown_columns) {
      const std::size_t begin = at++;
      while (continues()) ++at;
      if (column++ >= first) cells_.push_back(printable(line.substr(begin, at - begin)));
    }
  }
  std::size_t first() const { return first_; }
  std::size_t end() const { return first_ + cells_.size(); }
  std::string text() const { return fmt::format("{}", fmt::join(cells_, "")); }
  /// Blanks as wide as the text left of `column`: tabs stay tabs.
  std::string blank_before(std::size_t column) const {
    std::string out;
    for (std::size_t i = first_; i < column; ++i) out += i < end() && cells_[i - first_] == "\t" ? '\t' : ' ';
    return out;
  }

 private:
  /// Control characters and bytes that are no UTF-8 become `?`. (Overlong sequences pass: terminals show them as one
  /// bad character.)
  static std::string printable(std::string_view cell) {
    const auto first = static_cast<unsigned char>(cell[0]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    const bool control = (first < 0x20 && first != '\t') || first == 0x7F;
    return cell.size() != length || control ? std::string(1, '?') : std::string(cell);
  }
  std::size_t first_;
  std::vector<std::string> cells_;
};

class Renderer {
 public:
  Renderer(const Diagnostic& diagnostic, const SourceMap& sources, bool colour)
      : diagnostic_(diagnostic), sources_(sources), colours_(colours_for(severity_of(diagnostic.kind), colour)) {}

  std::string run() {
    const bool is_error = severity_of(diagnostic_.kind) == Severity::error;
    // the code stands in the first line: what follows are lines of others, of a compiler or an interpreter
    const std::string_view message = diagnostic_.message;
    const std::string_view first = message.substr(0, message.find('\n'));
    add("{}: {}{}:{} {} [{}]{}\n", sources_.describe(diagnostic_.span), colours_.severity,
        is_error ? "error" : "warning", colours_.end, first, name_of(diagnostic_.kind), message.substr(first.size()));
    collect();
    show_file(diagnostic_.span.file);
    for (const auto& [file, marks] : marks_) {
      if (file == diagnostic_.span.file) continue;
      add("{}{:{}}-->{} {}\n", colours_.gutter, "", width_ + 1, colours_.end, sources_.describe(marks.front().span));
      show_file(file);
    }
    show_includes();
    for (const std::string& call : diagnostic_.calls)
      add("{}{:{}}={} called at {}\n", colours_.gutter, "", width_ + 1, colours_.end, call);
    for (const std::string& remark : diagnostic_.remarks)
      add("{}{:{}}={} note: {}\n", colours_.gutter, "", width_ + 1, colours_.end, remark);
    for (const std::string& help : diagnostic_.help)
      add("{}{:{}}={} help: {}\n", colours_.gutter, "", width_ + 1, colours_.end, help);
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void collect() {
    const auto put = [&](Span span, const std::string& text, bool primary) {
      const LineColumn at = sources_.position(span);
      marks_[span.file].push_back({span, text, primary, at});
      width_ = std::max(width_, fmt::formatted_size("{}", at.line));
    };
    put(diagnostic_.span, "", true);
    for (const Diagnostic::Label& label : diagnostic_.labels) put(label.span, label.text, false);
    for (const MacroUse* macro : macros_in_question())
      put(macro->definition, fmt::format("the macro `{}`", macro->name), false);
    for (auto& [file, marks] : marks_) {
      std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
        return std::tuple(a.at.line, !a.primary, a.at.column) < std::tuple(b.at.line, !b.primary, b.at.column);
      });
    }
  }

  /// Those used in what is marked, each once.
  std::vector<const MacroUse*> macros_in_question() const {
    std::vector<const MacroUse*> macros;
    const auto look_in = [&](Span span) {
      for (const MacroUse* use : sources_.at(span.file).macro_uses(span)) {
        const bool known = std::ranges::any_of(macros, [&](const MacroUse* one) {
          return one->definition.file == use->definition.file && one->definition.begin == use->definition.begin;
        });
        if (!known && macros.size() < shown_macros) macros.push_back(use);
      }
    };
    look_in(diagnostic_.span);
    for (const Diagnostic::Label& label : diagnostic_.labels) look_in(label.span);
    return macros;
  }

  void show_includes() {
    std::size_t shown = 0;
    for (const std::optional<Span>* at = &sources_.at(diagnostic_.span.file).included_at(); *at;
         at = &sources_.at((*at)->file).included_at()) {
      const bool enough = shown++ == shown_includes;
      add("{}{:{}}={} included at {}\n", colours_.gutter, "", width_ + 1, colours_.end,
          enough ? "further places" : sources_.describe(**at));
      if (enough) return;
    }
  }

  void show_file(std::uint32_t file) {
    std::uint32_t shown = 0;
    Excerpt line("", 0);
    for (const Mark& mark : marks_[file]) {
      const std::size_t column = mark.at.column - 1;
      // A mark far away on the same long line gets its own excerpt.
      const bool outside = column < line.first() || column >= line.first() + shown_columns;
      if (mark.at.line != shown || outside) {
        line = Excerpt(sources_.at(file).line(mark.at.line), column < shown_columns ? 0 : column - shown_columns / 4);
        show_line(line, mark.at.line);
      }
      shown = mark.at.line;
      show_mark(line, mark);
    }
  }

  void show_line(const Excerpt& line, std::uint32_t number) {
    const std::string text = line.text();
    add("{}  {:>{}} |{}{}{}\n", colours_.gutter, number, width_, colours_.end, text.empty() ? "" : " ", text);
  }

  void show_mark(const Excerpt& line, const Mark& mark) {
    const std::size_t column = mark.at.column - 1;
    const std::string_view source = sources_.at(mark.span.file).text();
    const std::string_view covered = source.substr(std::min<std::size_t>(mark.span.begin, source.size()),
                                                   mark.span.end - std::min(mark.span.begin, mark.span.end));
    std::size_t length = 0;
    for (const char c : covered.substr(0, covered.find_first_of("\r\n")))
      length += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
    length = std::max<std::size_t>(std::min(length, line.end() - std::min(line.end(), column)), 1);
    add("{}  {:{}} |{} {}{}{}{}{}{}\n", colours_.gutter, "", width_, colours_.end, line.blank_before(column),
        mark.primary ? colours_.severity : colours_.gutter, std::string(length, mark.primary ? '^' : '-'),
        mark.text.empty() ? "" : " ", mark.text, colours_.end);
  }

  const Diagnostic& diagnostic_;
  const SourceMap& sources_;
  Colours colours_;
  std::map<std::uint32_t, std::vector<Mark>> marks_;  ///< by file
  std::size_t width_ = 1;                             ///< of line numbers
  std::string out_;
};

}  // namespace

std::string render(const Diagnostic& diagnostic, const SourceMap& sources, bool colour) {
  return Renderer(diagnostic, sources, colour).run();
}

}  // namespace raddle
