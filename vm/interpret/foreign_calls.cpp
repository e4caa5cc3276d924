// Functions of shared libraries and in Tcl.
#include "vm/interpret/borrow.hpp"
#include "vm/interpret/interpreter.hpp"
#include "vm/interpret/run_state.hpp"

namespace raddle::vm {

bool Interpreter::run_foreign(Frame& frame, const Instruction& in) {
  const AppSite& site = program_.apps[in.d];
  std::vector<Value> inputs;
  for (const Operand file : site.file_outputs) inputs.push_back(frame.at(file).get());
  for (const Operand input : site.words) inputs.push_back(frame.at(input).get());
  if (const Value failure = begin_outputs_at_once(frame, in)) {
    fail_program(frame, site, failure);
    return false;
  }
  if (run_.options.before_program) run_.options.before_program();  // it may print
  auto outputs = run_.foreigns[site.foreign]->call(inputs);
  if (!outputs) {
    fail_program(frame, site, failure_at(frame, index_of(in), std::move(outputs.error())));
    return false;
  }
  for (std::size_t i = 0; i < site.outputs.size(); ++i) {
    set(frame.at(site.outputs[i]), std::move((*outputs)[i]), frame, index_of(in), site.outputs[i]);
  }
  for (const Operand output : site.file_outputs) {
    File& file = object_in<File>(frame.at(output));
    if (!set(file.complete(), Value::of_void())) assigned_twice(frame, index_of(in), file.path());
  }
  return true;
}

}  // namespace raddle::vm
