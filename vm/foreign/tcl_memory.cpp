#include "vm/foreign/tcl_memory.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace raddle::vm {

namespace {

constexpr int memory_ok = 0, memory_error = 1;  // as Tcl's

struct MemoryCommand {
  const TclApi& api;
  Tcl_Interp* interpreter;

  int fail(std::string_view text) const {
    api.Tcl_SetObjResult(interpreter, api.Tcl_NewStringObj(text.data(), static_cast<int>(text.size())));
    return memory_error;
  }
  int allocate(long bytes) const {
    void* const allocated = bytes < 0 ? nullptr : std::calloc(1, static_cast<std::size_t>(bytes) + 1);
    if (allocated == nullptr) return fail("there is no memory of " + std::to_string(bytes) + " bytes");
    const std::string address = std::to_string(reinterpret_cast<std::intptr_t>(allocated));
    api.Tcl_SetObjResult(interpreter, api.Tcl_NewStringObj(address.data(), static_cast<int>(address.size())));
    return memory_ok;
  }
  int write(void* to, Tcl_Obj* data) const {
    int count = 0;
    const unsigned char* const bytes = api.Tcl_GetByteArrayFromObj(data, &count);
    std::memcpy(to, bytes, static_cast<std::size_t>(count));
    return memory_ok;
  }
};

int run_memory_command(void* data, Tcl_Interp* interpreter, int count, Tcl_Obj* const* words) {
  const MemoryCommand command{*static_cast<const TclApi*>(data), interpreter};
  const TclApi& api = command.api;
  long first = 0, bytes = 0;
  if (count < 3 || api.Tcl_GetWideIntFromObj(interpreter, words[2], &first) != memory_ok) return memory_error;
  const std::string_view verb = api.Tcl_GetStringFromObj(words[1], nullptr);
  if (verb == "allocate") return command.allocate(first);
  void* const address = reinterpret_cast<void*>(first);
  if (verb == "release") {
    std::free(address);
    return memory_ok;
  }
  if (address == nullptr) return command.fail("the pointer is NULL");
  if (verb == "write" && count == 4) return command.write(address, words[3]);
  if (verb != "read" || count != 4 || api.Tcl_GetWideIntFromObj(interpreter, words[3], &bytes) != memory_ok)
    return memory_error;
  api.Tcl_SetObjResult(interpreter,
                       api.Tcl_NewByteArrayObj(static_cast<const unsigned char*>(address), static_cast<int>(bytes)));
  return memory_ok;
}

}  // namespace

void add_memory_command(const TclApi& api, Tcl_Interp* interpreter) {
  api.Tcl_CreateObjCommand(interpreter, "::raddle::memory", run_memory_command, const_cast<TclApi*>(&api), nullptr);
}

}  // namespace raddle::vm
