#pragma once
// One sink for the findings of every phase. Phases report all they can and return a partial value;
// the tool stops after a phase that reported an error. Never exceptions.
#include <fmt/format.h>

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/source/source_buffer.hpp"

namespace raddle {

enum class Severity : std::uint8_t { error, warning };

enum class DiagnosticKind : std::uint16_t {
#define RADDLE_DIAGNOSTIC(name, severity, text) name,
#include "compiler/diagnostics/kinds.def"
#undef RADDLE_DIAGNOSTIC
};

Severity severity_of(DiagnosticKind kind);
const char* name_of(DiagnosticKind kind);
/// Names of all kinds of `severity`, in the order of the list.
std::vector<std::string> names_of(Severity severity);
std::optional<DiagnosticKind> kind_named(std::string_view name);

struct Diagnostic {
  struct Label {
    Span span;
    std::string text;
  };
  DiagnosticKind kind;
  Span span;
  std::string message;
  std::vector<Label> labels;
  std::vector<std::string> help;     ///< what to do about it
  std::vector<std::string> remarks;  ///< what else is known
  std::vector<std::string> calls;    ///< of run-time errors: positions, innermost first

  Diagnostic& label(Span at, std::string text) {
    labels.push_back({at, std::move(text)});
    return *this;
  }
  Diagnostic& note(std::string text) {
    help.push_back(std::move(text));
    return *this;
  }
  Diagnostic& remark(std::string text) {
    remarks.push_back(std::move(text));
    return *this;
  }
};

class Diagnostics {
 public:
  /// Reports `kind` at the narrowest range that shows the fault; `args` fill the kind's text.
  /// The reference stays valid as long as the sink: chain .label() and .note() on it. A second report of a kind at the
  /// same range is dropped.
  template <typename... Args>
  Diagnostic& report(DiagnosticKind kind, Span span, const Args&... args) {
    return add(kind, span, fmt::vformat(text_of(kind), fmt::make_format_args(args...)));
  }
  /// Reports what another sink has found.
  Diagnostic& take(Diagnostic found) {
    Diagnostic& own = add(found.kind, found.span, found.message);
    own = std::move(found);
    return own;
  }
  /// Drops the warnings of `kind` that lie within `range`, those reported already and those to come. References to
  /// diagnostics are invalid then.
  void suppress(DiagnosticKind kind, Span range);
  bool has_errors() const { return error_count_ != 0; }
  std::size_t error_count() const { return error_count_; }
  const std::deque<Diagnostic>& all() const { return all_; }
  Diagnostic& latest() { return all_.back(); }  ///< for more help; there must be one
  /// Sorts what was reported from the `first`-th on by position, for a phase that finds things in another order.
  /// References to those diagnostics are invalid then.
  void order_by_position(std::size_t first);

 private:
  static const char* text_of(DiagnosticKind kind);
  bool is_suppressed(DiagnosticKind kind, Span span) const;
  Diagnostic& add(DiagnosticKind kind, Span span, std::string message);

  /// Kind, file, begin, end, and what was told if a place may have several messages.
  using Key = std::tuple<DiagnosticKind, std::uint32_t, std::uint32_t, std::uint32_t, std::string>;

  std::deque<Diagnostic> all_;
  std::deque<Diagnostic> dropped_;  ///< their reporters may still hold references
  std::set<Key> seen_;
  std::vector<std::pair<DiagnosticKind, Span>> suppressed_;
  std::size_t error_count_ = 0;
};

/// "did you mean `x`?": the nearest candidate by edit distance, empty if none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// The text of one diagnostic: `file:line:col: error: message [kind]`, the line, carets, labels, help.
std::string render(const Diagnostic& diagnostic, const SourceMap& sources, bool colour);

}  // namespace raddle
