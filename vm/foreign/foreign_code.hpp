#pragma once
// Functions whose body is code outside of the script: a C function of a shared library, a Tcl template.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vm/program/program.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

/// Loads what it needs at the first call. Called by all workers at once.
class ForeignCode {
 public:
  virtual ~ForeignCode() = default;
  /// @param inputs   as ForeignFunction::inputs says; all set, deeply
  /// @param outputs  one for each of ForeignFunction::outputs, to be set here
  /// @return         "", or the text of the error for the user
  virtual std::string call(std::span<const Value> inputs, std::span<Value> outputs) = 0;
};

/// Writes what C has printed, so that it comes before what the script prints next. By the thread that has called C;
/// looks before it takes the lock of `stdout`, as calls may be short and many threads make them. SIGPIPE if nobody
/// reads.
void write_output_of_c();

class AppKernelCompiler;

/// @param function         must outlive the code
/// @param package_folders  where Tcl's packages are looked for before its own places
/// @param kernels          null: AppKernels can not be called
std::unique_ptr<ForeignCode> make_foreign_code(const ForeignFunction& function,
                                               const std::vector<std::string>& package_folders,
                                               AppKernelCompiler* kernels);

}  // namespace raddle::vm
