#pragma once
// Standard output of the run: whole texts, in the order of the calls, from any thread.
#include <string_view>

namespace raddle::stdlib {

/// Adds `text`, which should end a line. Written at once if standard output is a terminal; else with the next texts,
/// at the latest when 64 KiB are there or, at the next call, 100 ms after the last write.
void print_text(std::string_view text);

/// Writes what print_text has kept. To be called before a program that shares standard output starts, before
/// anything is written to standard error, when the workers have nothing to do, and at the end of the run.
/// @return  false if standard output could not be written, now or before
bool flush_output();

}  // namespace raddle::stdlib
