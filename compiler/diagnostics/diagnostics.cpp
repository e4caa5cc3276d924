#include "compiler/diagnostics/diagnostics.hpp"

#include <algorithm>
#include <cctype>

namespace raddle {

namespace {

struct KindEntry {
  const char* name;
  Severity severity;
  const char* text;
};

constexpr KindEntry kind_entries[] = {
#define RADDLE_DIAGNOSTIC(name, severity, text) {#name, Severity::severity, text},
#include "compiler/diagnostics/kinds.def"
#undef RADDLE_DIAGNOSTIC
};

const KindEntry& entry(DiagnosticKind kind) { return kind_entries[static_cast<std::size_t>(kind)]; }

/// Steps (insert, delete, replace, swap neighbours) from `a` to `b`; case counts nothing.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

}  // namespace

Severity severity_of(DiagnosticKind kind) { return entry(kind).severity; }
const char* name_of(DiagnosticKind kind) { return entry(kind).name; }
const char* Diagnostics::text_of(DiagnosticKind kind) { return entry(kind).text; }

std::vector<std::string> names_of(Severity severity) {
  std::vector<std::string> names;
  for (const KindEntry& one : kind_entries)
    if (one.severity == severity) names.emplace_back(one.name);
  return names;
}

std::optional<DiagnosticKind> kind_named(std::string_view name) {
  const auto found = std::ranges::find(kind_entries, name, &KindEntry::name);
  if (found == std::end(kind_entries)) return std::nullopt;
  return static_cast<DiagnosticKind>(found - std::begin(kind_entries));
}

bool Diagnostics::is_suppressed(DiagnosticKind kind, Span span) const {
  return std::ranges::any_of(suppressed_, [&](const auto& entry) {
    const Span& range = entry.second;
    return entry.first == kind && range.file == span.file && range.begin <= span.begin && span.end <= range.end;
  });
}

void Diagnostics::suppress(DiagnosticKind kind, Span range) {
  suppressed_.emplace_back(kind, range);
  std::erase_if(all_, [&](const Diagnostic& one) { return is_suppressed(one.kind, one.span); });
}

Diagnostic& Diagnostics::add(DiagnosticKind kind, Span span, std::string message) {
  // at one place a script may fail in many ways while it runs, and fields of one variable may be stuck
  const bool is_of_run =
      kind == DiagnosticKind::run_time || kind == DiagnosticKind::never_set || kind == DiagnosticKind::replaced_failure;
  const std::string told = is_of_run ? message : "";
  const bool fresh = !is_suppressed(kind, span) && seen_.emplace(kind, span.file, span.begin, span.end, told).second;
  if (fresh && severity_of(kind) == Severity::error) ++error_count_;
  Diagnostic& added = (fresh ? all_ : dropped_).emplace_back();
  added.kind = kind;
  added.span = span;
  added.message = std::move(message);
  return added;
}

void Diagnostics::order_by_position(std::size_t first) {
  const auto key = [](const Diagnostic& one) { return std::pair(one.span.file, one.span.begin); };
  std::stable_sort(all_.begin() + static_cast<std::ptrdiff_t>(first), all_.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::size_t best = std::max<std::size_t>(name.size() / 3, 1) + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(candidate.size(), name.size());
    if (longer - std::min(candidate.size(), name.size()) >= best) continue;
    const std::size_t distance = edit_distance(name, candidate);
    // One-letter names are all one step apart: only another case is near.
    if (distance >= best || distance >= longer) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace raddle
