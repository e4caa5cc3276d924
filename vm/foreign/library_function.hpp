#pragma once
// A C function of a shared library, called through libffi.
#include <ffi.h>

#include <mutex>
#include <string>
#include <vector>

#include "vm/foreign/foreign_code.hpp"

namespace raddle::vm {

class CArguments;

class LibraryFunction final : public ForeignCode {
 public:
  explicit LibraryFunction(const ForeignFunction& function) : ForeignCode(function) {}
  std::string call(std::span<const Value> inputs, std::span<Value> outputs) override;

 private:
  void load();  // once: fills address_ and interface_, or problem_
  std::string call_here(CArguments& arguments, Value& returned);

  std::once_flag once_;  // what follows is written under it and only read after it
  std::string problem_;
  void (*address_)() = nullptr;
  ffi_cif interface_{};
  std::vector<ffi_type*> argument_types_;
};

}  // namespace raddle::vm
