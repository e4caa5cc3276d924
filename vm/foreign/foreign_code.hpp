#pragma once
// Functions whose body is code outside of the script that runs in this process: C functions of shared libraries,
// AppKernels.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vm/foreign/open_call.hpp"
#include "vm/foreign/served_language.hpp"
#include "vm/program/program.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

/// Loads what it needs at the first call. Called by all workers at once.
class ForeignCode {
 public:
  /// @param function  must outlive it
  explicit ForeignCode(const ForeignFunction& function) : function_(function), known_(function) {}
  virtual ~ForeignCode() = default;
  /// @param inputs   as ForeignFunction::inputs says; all set, deeply
  /// @param outputs  one for each of ForeignFunction::outputs, to be set here
  /// @return         "", or the text of the error for the user
  virtual std::string call(std::span<const Value> inputs, std::span<Value> outputs) = 0;

 protected:
  const ForeignFunction& function_;

 private:
  const KnownFunction known_;
};

/// Writes what C has printed, so that it comes before what the script prints next. By the thread that has called C;
/// looks before it takes the lock of `stdout`, as calls may be short and many threads make them. SIGPIPE if nobody
/// reads.
void write_output_of_c();

class AppKernelCompiler;

/// Functions in Python, R and Tcl are called in processes of their own: server_exchange.hpp.
inline bool is_served(ForeignKind kind) {
  return served_language(kind) != nullptr || kind == ForeignKind::tcl_template || kind == ForeignKind::tcl_procedure;
}

/// @param function, kernels  must outlive the code; null: AppKernels can not be called
/// @return                   null: the function is not called in this process
std::unique_ptr<ForeignCode> make_foreign_code(const ForeignFunction& function, AppKernelCompiler* kernels);

}  // namespace raddle::vm
