#pragma once
// Who wants to know which external programs and calls of `@memo` functions a run has made.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vm/calls/own_outputs.hpp"
#include "vm/external/processes.hpp"
#include "vm/program/program.hpp"
#include "vm/record/call_record.hpp"
#include "vm/record/named_files.hpp"

namespace raddle::vm {

/// One attempt of an `app` function's call at running its program.
struct EndedProgram {
  std::uint64_t number;  ///< of the call, from begun()
  std::uint32_t attempt;
  bool is_last;
  const std::string& app;  ///< name of the function
  Place place;             ///< of the call
  const ProcessRequest& request;
  const ProcessResult& result;
  const std::string& fault;                     ///< "": it has succeeded
  bool is_interrupted;                          ///< it ran when the run ended
  const std::vector<std::string>& inputs;       ///< paths of files
  const std::vector<std::string>& outputs;      ///< the same
  const OwnOutputs& own;                        ///< says where outputs are now
  const std::vector<std::string>& temporaries;  ///< those among both whose names are other ones in each run
};

struct EndedMemoCall {
  std::uint64_t number;  ///< from begun(); 0: it was taken from the record
  const RecordedCall& call;
  Place place;
  bool is_from_record = false;
  std::string result = {};               ///< a scalar as text, anything else as a hash; "" if it has failed
  std::string fault = {};                ///< "": it has succeeded
  std::span<const ReadFile> reads = {};  ///< files that were named in it
  double duration_s = 0;
  unsigned worker = 0;  ///< that has noted its end, from 1
};

/// Called by any worker, by several at once.
class TaskListener {
 public:
  virtual ~TaskListener() = default;
  /// A program is about to be started for a call, or a call of a `@memo` function to be computed.
  /// @param inputs  paths of files that a program is given   @param words  of the program's command line; none: no
  /// program   @param is_first  nothing has run before that may have made files
  /// @return the call's number, from 1
  virtual std::uint64_t begun(const std::vector<std::string>& inputs, const std::vector<std::string>& words,
                              bool is_first) = 0;
  /// The script itself is about to read a file, or to look for it, or is given its name.
  virtual void reads(const NamedFile&) {}
  /// A call is about to write a file whose name the script knows.
  virtual void writes(const std::string& /*path*/) {}
  /// A program runs; on the thread that has started it, which is not to wait.
  virtual void started(const ProcessRequest&) {}
  virtual void ended(const EndedProgram& program) = 0;
  virtual void ended(const EndedMemoCall& call) = 0;
};

}  // namespace raddle::vm
