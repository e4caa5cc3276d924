#pragma once
// A function in Tcl: a procedure of a package (Note [procedures] in turbine_commands.cpp), or a template. `<<v>>`
// stands for the value of an input or the name of an output, `$<<v>>` for the value of an output, `&<<v>>` for the name
// of an input; `\` makes the next character an ordinary one.
#include "vm/foreign/foreign_code.hpp"

namespace raddle::vm {

class TclFunction final : public ForeignCode {
 public:
  TclFunction(const ForeignFunction& function, const ForeignHost& host);
  std::string call(std::span<const Value> inputs, std::span<Value> outputs) override;

 private:
  std::string template_definition() const;
  std::string procedure_definition() const;
  std::string body(const std::string& code) const;
  std::string place_holder(std::string_view name, char mark) const;

  const ForeignHost& host_;
  const std::string name_;
  std::string definition_;
};

}  // namespace raddle::vm
