#include "vm/foreign/foreign_code.hpp"

#include "vm/foreign/library_function.hpp"
#include "vm/foreign/tcl_function.hpp"

namespace raddle::vm {

std::unique_ptr<ForeignCode> make_foreign_code(const ForeignFunction& function) {
  switch (function.kind) {
    case ForeignKind::library:
    case ForeignKind::isolated_library: return std::make_unique<LibraryFunction>(function);
    case ForeignKind::tcl: return std::make_unique<TclFunction>(function);
  }
  return nullptr;
}

}  // namespace raddle::vm
