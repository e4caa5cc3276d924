#pragma once
// A C function of a shared library, called through libffi: int = int64_t, float = double, string = const char*,
// boolean = bool, an array of numbers or booleans = a pointer and an int64_t length.
#include <ffi.h>

#include <mutex>
#include <string>
#include <vector>

#include "vm/foreign/foreign_code.hpp"

namespace raddle::vm {

class LibraryFunction final : public ForeignCode {
 public:
  explicit LibraryFunction(const ForeignFunction& function) : function_(function) {}
  std::string call(std::span<const Value> inputs, std::span<Value> outputs) override;

 private:
  class Arguments;
  void load();  // once: fills address_ and interface_, or problem_
  std::string call_here(Arguments& arguments, std::span<Value> outputs);

  const ForeignFunction& function_;
  std::once_flag once_;  // what follows is written under it and only read after it
  std::string problem_;
  void (*address_)() = nullptr;
  ffi_cif interface_{};
  std::vector<ffi_type*> argument_types_;
};

}  // namespace raddle::vm
