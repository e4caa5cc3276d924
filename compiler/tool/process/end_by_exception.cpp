#include "compiler/tool/process/end_by_exception.hpp"

#include <unistd.h>

#include <exception>
#include <new>

#include "compiler/tool/command/session.hpp"
#include "compiler/tool/process/out_of_memory.hpp"
#include "vm/foreign/crash_notice.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::tool {

void end_by_exception() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    end_out_of_memory();
  } catch (const std::exception& error) {
    vm::end_by_foreign_exception(error.what());
    vm::print_stderr("raddle: internal error: {}\n", error.what());
  } catch (...) {
    vm::end_by_foreign_exception("of a type without a text");
  }
  _exit(exit_internal);
}

}  // namespace raddle::tool
