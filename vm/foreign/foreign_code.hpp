#pragma once
// Functions whose body is code outside of the script: a C function of a shared library, a Tcl template.
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vm/foreign/code_request.hpp"
#include "vm/foreign/open_call.hpp"
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

/// What code outside of the script finds of the run around it.
struct ForeignHost {
  std::vector<std::string> package_folders = {};  ///< where Tcl's packages are looked for before its own places
  AppKernelCompiler* kernels = nullptr;           ///< null: AppKernels can not be called
  /// Of Tcl; empty: it can run none.
  std::function<std::expected<std::string, std::string>(const CodeRequest&)> run_code = {};
  unsigned workers = 1;
};

/// The rank of the worker that calls, for code that asks for it. Of each thread; set before each call.
extern thread_local std::int32_t calling_rank;

/// @param function, host  must outlive the code   @return null: a function in Python is not called in this process
std::unique_ptr<ForeignCode> make_foreign_code(const ForeignFunction& function, const ForeignHost& host);

}  // namespace raddle::vm
