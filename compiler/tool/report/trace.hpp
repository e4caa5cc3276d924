#pragma once
// Traces in the form of Chrome's trace viewer, which Perfetto (https://ui.perfetto.dev) reads: JSON, a line for each
// event.
#include <cstdint>
#include <string_view>

#include "compiler/tool/report/spans.hpp"
#include "compiler/tool/formats/writer.hpp"

namespace raddle::report {

/// Writes events as they come; end() closes the JSON.
class TraceWriter {
 public:
  /// @param process  what the lanes belong to
  TraceWriter(sweep::Writer& writer, std::string_view process);
  void name_lane(std::uint32_t lane, std::string_view name);
  /// @param arguments  a JSON object
  void slice(const Span& span, std::string_view name, std::string_view category, std::string_view arguments);
  /// A curve; @param values  a JSON object of numbers
  void counter(double at_s, std::string_view name, std::string_view values);
  void end();

 private:
  void add(std::string_view event);
  sweep::Writer& writer_;
  bool is_first_ = true;
};

/// How many slices a trace has, at most: viewers become slow beyond.
inline constexpr std::uint64_t most_slices = 1'000'000;

/// Spans of each lane that begin in the same part of the time as one, so that `most` are left, and at least one of each
/// lane. @pre they lie in lanes, in the order of their starts   @return the same
std::vector<Span> join_spans(const std::vector<Span>& spans, std::uint32_t lanes, std::uint64_t most);

/// Curves of how many run and how many fail, in a thousand steps.
void write_load(TraceWriter& trace, const std::vector<Span>& spans);

}  // namespace raddle::report
