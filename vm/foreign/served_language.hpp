#pragma once
// Languages whose functions processes of their own call: what differs between them.
#include "vm/program/program.hpp"

namespace raddle::vm {

struct ServedLanguage {
  const char* name;
  const char* program;  ///< that runs it
  const char* package;  ///< that has the program
  const char* pool;     ///< of its processes
  bool shares_memory;   ///< large arrays lie in memory that the processes map, too
  /// Else an int goes as an integer of 32 bits or as a double.
  bool has_wide_integers;
  bool has_zero_bytes_in_texts;
};

/// @return null: functions of this kind are not called by the messages of served_function.cpp
inline const ServedLanguage* served_language(ForeignKind kind) {
  static constexpr ServedLanguage python{"Python", "python3", "Python 3", "@python", true, true, true};
  static constexpr ServedLanguage r{"R", "Rscript", "R (Debian: r-base-core)", "@r", false, false, false};
  switch (kind) {
    case ForeignKind::python: return &python;
    case ForeignKind::r: return &r;
    case ForeignKind::library:
    case ForeignKind::isolated_library:
    case ForeignKind::tcl_template:
    case ForeignKind::tcl_procedure:
    case ForeignKind::app_kernel: break;
  }
  return nullptr;
}

}  // namespace raddle::vm
