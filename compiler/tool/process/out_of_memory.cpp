#include "compiler/tool/process/out_of_memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <new>
#include <string_view>

#include "compiler/tool/command/session.hpp"
#include "compiler/tool/process/signals.hpp"
#include "compiler/tool/terminal/tty.hpp"
#include "vm/foreign/crash_notice.hpp"
#include "vm/interpret/running_place.hpp"

// Of mimalloc, which is not there in builds with sanitizers. Its `new` knows of no new_handler: it is built as C, and
// aborts.
extern "C" [[gnu::weak]] void mi_register_error(void (*handler)(int error, void* argument), void* argument);

namespace raddle::tool {

namespace {

std::atomic<const SourceMap*> scripts = nullptr;  // set before a run, read by its threads
std::atomic<bool> is_told = false;                // by the first thread that finds no memory

/// Allocates nothing. @return how many characters it has written
std::size_t write_place(const vm::Place& place, char* text, std::size_t size) {
  const SourceMap* sources = scripts.load(std::memory_order_acquire);
  if (sources == nullptr || place.end == 0) return 0;
  const SourceBuffer& source = sources->at(place.file);
  const LineColumn at = source.position(place.begin);
  return std::min(fmt::format_to_n(text, size, "{}:{}:{}", source.path(), at.line, at.column).size, size);
}

/// Allocates nothing.
void tell_place() {
  std::array<char, 1024> text;
  const vm::Place* const place = vm::running_place;
  const std::size_t size = place == nullptr ? 0 : write_place(*place, text.data(), text.size());
  if (size == 0) return;
  tell_at_once("raddle: it was asked for at ");
  tell_at_once({text.data(), size});
  tell_at_once("\n");
}

[[noreturn]] void end_by(std::string_view message) {
  while (is_told.exchange(true, std::memory_order_relaxed)) pause();  // that thread ends the process
  terminal::Tty::restore();
  tell_at_once(message);
  tell_place();
  _exit(exit_failed);
}

}  // namespace

void end_out_of_memory() { end_by("raddle: out of memory: a recursion without end, or too much data at a time\n"); }

void end_out_of_memory(const std::string& why) { end_by(fmt::format("raddle: {}\n", why)); }

void tell_places_in(const SourceMap& sources) {
  scripts.store(&sources, std::memory_order_release);
  vm::tell_places_by(write_place);
}

void end_where_memory_ends() {
  std::set_new_handler(end_out_of_memory);
  if (mi_register_error == nullptr) return;
  const auto ends = [](int error, void*) {
    if (error == ENOMEM || error == EOVERFLOW) end_out_of_memory();
  };
  mi_register_error(ends, nullptr);
}

}  // namespace raddle::tool
