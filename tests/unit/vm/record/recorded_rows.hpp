#pragma once
// Rows for tests of the record.
#include <cstdint>
#include <string>

#include "vm/record/run_record.hpp"

namespace raddle::vm {

inline bool any(const Attempt&) { return true; }

inline RunRow sweep_of(std::uint64_t points) {
  RunRow run;
  run.kind = "sweep";
  run.command = std::string("-p\0a=1\0", 7);
  run.started = 1000;
  run.points = points;
  return run;
}

inline PointRow point(std::uint64_t number, PointOutcome outcome) {
  PointRow row;
  row.number = number;
  row.key = {7, number};
  row.attempt.outcome = outcome;
  row.attempt.results = R"({"E":1})";
  row.attempt.stdout_end = std::string("a\0b", 3);
  row.attempt.stdout_size = 100;
  row.attempt.worker = 3;
  row.attempt.inputs = R"({"x.csv":"5-1"})";
  return row;
}

/// Of point 5, at the second attempt.
inline PointRow task(std::uint64_t number) {
  PointRow row = point(number, PointOutcome::ok);
  row.point = 5;
  row.point_attempt = 2;
  return row;
}

}  // namespace raddle::vm
