#pragma once
// A call of a function in Tcl: a procedure of a package (Note [procedures] in turbine_commands.cpp), or a template.
// `<<v>>` stands for the value of an input or the name of an output, `$<<v>>` for the value of an output, `&<<v>>` for
// the name of an input; `\` makes the next character an ordinary one.
//
// *Decision.* Each rank has a process for its Tcl (tcl_server.hpp). *Why:* packages in C, of which some have an
// interpreter of R or Python in them, are written for a process that is one rank: what they keep is theirs, R wants the
// stack of the main thread and takes SIGSEGV for itself, and few of them may be entered by two threads at once.
// *Instead of* an interpreter for each worker's thread, as it was. *The price:* some 20 us a call.
#include <functional>
#include <string>
#include <vector>

#include "vm/foreign/code_request.hpp"
#include "vm/foreign/server_exchange.hpp"
#include "vm/program/program.hpp"

namespace raddle::vm {

/// What Tcl finds of the run around it.
struct TclHost {
  std::vector<std::string> package_folders = {};  ///< where packages are looked for before Tcl's own places
  /// In another language. Any thread.
  std::function<std::expected<std::string, std::string>(const CodeRequest&)> run_code;
};

class TclExchange final : public ServerExchange {
 public:
  /// @param function, host  must outlive it
  TclExchange(const ForeignFunction& function, const TclHost& host) : function_(function), host_(host) {}
  std::expected<std::string, std::string> request(std::span<const Value> inputs) override;
  std::optional<std::string> go_on(const std::string& answer) override;
  std::expected<std::vector<Value>, Problem> finish(const std::string& answer) override;

 private:
  const ForeignFunction& function_;
  const TclHost& host_;
};

}  // namespace raddle::vm
