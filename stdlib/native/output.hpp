#pragma once
// Standard output of the run, and what its programs write to standard error: whole texts, in the order of the calls,
// from any thread.
#include <chrono>
#include <cstdint>
#include <string_view>

namespace raddle::stdlib {

enum class Stream : std::uint8_t { out, error };

/// Adds `text`, which should end a line. Written at once if standard output is a terminal; else with the next texts,
/// at the latest when 64 KiB are there or, at the next call, 100 ms after the last write.
void print_text(std::string_view text);

/// Writes what is kept of both streams. To be called before a program that shares standard output starts, before
/// anything is written to standard error, when the workers have nothing to do, and at the end of the run.
/// @return  false if standard output could not be written, now or before
bool flush_output();
/// The same, but waits no longer for a reader: what he has not taken by then is not written.
bool flush_output_within(std::chrono::milliseconds time);

/// Adds `text`, and writes what can be written without waiting; what can not be written at all is dropped.
/// @return false if whoever has read it has gone
bool offer_text(Stream stream, std::string_view text);
/// Something was to be written to it, also if that failed.
bool has_text(Stream stream);
/// False once something could not be written as whoever read it has gone: then the process got SIGPIPE.
bool has_reader(Stream stream);
/// 64 KiB wait for the reader: nothing more should be offered.
bool is_full(Stream stream);

}  // namespace raddle::stdlib
