#pragma once
// The page of a report: HTML that needs nothing besides itself.
#include <string>
#include <utility>
#include <vector>

#include "compiler/tool/report/spans.hpp"
#include "compiler/tool/report/summary.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::report {

/// Points that failed alike.
struct FailureRow {
  std::uint64_t count = 0;
  std::string what;        ///< "exit code 3; r = 4.1 is outside of (0, 4]"
  std::string parameters;  ///< of the first of them: "r = 4.1"
  std::string again;       ///< a command that does the same
};

struct Report {
  std::string name;                                        ///< of the run
  std::string each = "point";                              ///< what a row of the table is: "point" or "task"
  std::string command;                                     ///< that began it
  std::vector<std::pair<std::string, std::string>> facts;  ///< "points", "12,001"
  std::vector<std::string> notes;                          ///< what is not as one may think
  TableSummary table;
  std::vector<FailureRow> failures;
  std::vector<Span> spans;
  std::vector<vm::DeviceRow> devices = {};  ///< what they have done, by device and lane
  double began = 0;                         ///< seconds since 1970
};

/// The page. All texts are escaped; it loads nothing, and says so to the browser.
std::string make_page(Report report);

/// What the page's script draws, as JSON: the sample's columns, marginals, durations, timeline, devices.
std::string page_data(Report& report);

/// For text and attributes of HTML.
std::string html_text(std::string_view text);

}  // namespace raddle::report
