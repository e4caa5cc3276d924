#pragma once
// What is said of a sweep on standard error, and what the tool ends with.
#include <string>

#include "compiler/tool/sweep/command_template.hpp"
#include "compiler/tool/sweep/input_files.hpp"
#include "compiler/tool/sweep/sweep.hpp"
#include "vm/record/recorder.hpp"
#include "vm/record/run_record.hpp"

namespace raddle::tool {

struct SweepEnd {
  const vm::RunRow& run;
  const sweep::SweepCounts& counts;
  sweep::SweepStop stop = sweep::SweepStop::none;
  bool has_limit = false;  ///< --max-fails
  int signal = 0;          ///< that asked for the end, or 0
  double seconds = 0;
  bool is_quiet = false;  ///< only failures are said
};

/// The failures in groups, each with a line that shows one; how many points, and how it can go on.
void report_sweep(const SweepEnd& end, const sweep::Failures& failures, const sweep::CommandTemplate& command);

/// Of the first file for which points are run again: what is said of all.
std::string change_text(const sweep::InputFiles::Change& change);

/// Files that points have read, or that a point has written, while the sweep ran.
void report_changed_files(const sweep::InputFiles::Changes& changes);

/// Of a record that can not be written: how the run goes on, and what is lost.
std::string unwritten_text(const std::string& error, const vm::Recorder::Unwritten& unwritten, const std::string& run);

/// The run, its failures in groups, and what the tool ends with: a line of JSON.
std::string sweep_json(const SweepEnd& end, const sweep::Failures& failures, const sweep::CommandTemplate& command,
                       int exit_code);

/// "raddle: point 14: r = 4.1: exit code 3, 0.006 s"
std::string point_line(const sweep::Space& space, const sweep::Point& point, const sweep::Attempt& attempt,
                       bool is_last);

/// "raddle: points 1 to 3,000: ok, 0.006 s"
std::string block_line(const vm::BlockRow& block);

struct SweepBreak {
  sweep::SweepCounts counts;
  int signal = 0;  ///< 0: the time of --time-limit is up
  const std::string& run;
  bool lets_end = false;  ///< what runs is waited for
};

/// At the first signal, or when the time is up.
std::string stop_message(const SweepBreak& at);

int exit_code_of(const SweepEnd& end);

}  // namespace raddle::tool
