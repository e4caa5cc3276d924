#pragma once
// The dataflow IR: functions of regions of operations over single-assignment variables.
// All parts live in vectors and are named by 32-bit ids, so that they copy and compare without pointers.
//
// Rules (checked by verify):
// - A variable is declared in one region (Region::variables, or its parameters, or the function's parameters and
//   outputs) and visible there and in all regions nested in it. It is assigned by at most one operation of each
//   region. Operations of different regions may assign it: in different branches of one `if`/`switch` that is the
//   ordinary thing, else the second assignment fails at run time (check has warned of it).
// - There is no order between operations of a region but through their operands. Lowering emits them in text order;
//   the pass order-operations sorts them so that each follows those that assign its operands, where that is possible.
// - Nothing refers to a variable of another function: globals that a function reads are passed to it as parameters
//   (added by lower, transitively).
//
// Note [loop]. `for` and `iterate` are one operation:
//     %f0, %f1 = loop %i0, %i1 {(%v0, %v1)  ...test...; loop_test value = `condition`
//                 } { ...body and updates... }
//   operands: initial values. regions[0] "test": its parameters are the loop variables; Op::condition is the boolean
//   variable (declared in regions[0] or outside) that decides. regions[1] "body": its parent is regions[0], so it sees
//   the variables there;
//   Op::nexts are the values of the next iteration (one for each loop variable). results: the final values of the
//   loop variables (one for each, or empty if nobody needs them), assigned when the condition is false.
//   `for`: test, then body and next. `iterate`: test_after is true: body first; the condition is a variable of
//   regions[1]; true means stop.
//
// Note [memo]. What calls a `@memo` function calls this in its place:
//     function @f composite (%x) -> (%o) {
//       %key, %o = memo "f", "code", %x files 0 {
//         %o = call @f.1 %x
//         memo_keep %key, %o files 0
//       }
//     }
//   operands of memo: the function's name, what its results depend on besides the inputs (set by the pass
//   key-memo-calls), file outputs, as many as Op::number says, inputs. It waits for all that is in the inputs. If the
//   record has the call's results, the outputs are assigned and the file outputs filled; else the region runs.
//   memo_keep waits for all that is in the outputs, which are kept then.
//
// Note [tracked arrays]. A launched function has arrays of its own (Note [own arrays] in vm/kernel/kernel.hpp). Those
// that loops fill element by element, `x[t] = x[t - 1] + v;`, are tracked: their kernel notes which elements are there.
// A tracked array_insert fails where the element is there already, a tracked array_get where it is not there yet; then
// the point is interpreted, which finds an order or tells what is wrong. Other reads of a tracked array come behind a
// loop of tracked ones over all elements. A growing array is one of more elements than are used, filled from the first
// one on: a tracked copy is the array of those that are there.
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "compiler/ir/ids.hpp"
#include "compiler/ir/index_launch.hpp"
#include "compiler/ir/loop_kernel.hpp"
#include "compiler/source/source_buffer.hpp"
#include "compiler/types/type_store.hpp"
#include "vm/kernel/placement.hpp"
#include "vm/kernel/fusion.hpp"

namespace raddle::ir {

enum class OpKind : std::uint8_t {
#define RADDLE_IR_OP(name, text, effect, strict) name,
#include "compiler/ir/ops.def"
#undef RADDLE_IR_OP
};
/// In which order a tracked array is filled: from its first element on, from its last one, or none that is known.
enum class FillOrder : std::uint8_t { any, up, down };
enum class Effect : std::uint8_t { pure, fails, creates, writes, acts };
enum class Strict : std::uint8_t { all, first, none, own };
struct OpInfo {
  const char* text;
  Effect effect;
  Strict strict;
};
const OpInfo& info(OpKind kind);

/// int, float, string, boolean; void has no constant. Types by the alternative's order.
using Constant = std::variant<std::int64_t, double, std::string, bool>;

struct Var {
  std::string name;  ///< the script's name, or "" for a temporary
  TypeId type = TypeStore::error;
  Span span;  ///< where it is declared; temporaries: the expression
  RegionId region = none;
};

/// One of the loops that a loop has been made of. What fails in its text is told by its own variable.
struct MergedLoop {
  Span span;
  std::string variable;         ///< "": an operation on whole arrays
  std::uint32_t parameter = 0;  ///< of the body, that is the variable
};

/// One of the loops of a nest whose iterations are those of a single loop, see opt/launches/launch_nests.hpp.
struct CollapsedLoop {
  std::vector<MergedLoop> merged;  ///< as loops_in() has it
  VarId variable = none;           ///< its own, of the single loop's body
  Operand low, high;
  Operand each;  ///< how many iterations of the single loop one of its own stands for
};

struct Op {
  OpKind kind = OpKind::copy;
  std::vector<VarId> results;  ///< never none: what nobody reads has a variable, too
  std::vector<Operand> operands;
  std::vector<RegionId> regions;
  Span span;
  std::uint32_t callee = none;  ///< call, call_app: FunctionId; call_builtin: index into stdlib's table
  std::int64_t number =
      0;  ///< writers n, field n, mode (0 incr, 1 min, 2 scale), files n, names 1 (lower/name_files.hpp)
  std::vector<std::int64_t> labels;  ///< switch_: one for each region but the default, the last if regions > labels
  Operand condition;                 ///< loop
  std::vector<Operand> nexts;        ///< loop
  LaunchId launch = none;            ///< foreach_range, foreach_array that is an index launch
  NestId nest = none;                ///< foreach_range that is a nest around an index launch
  LoopKernelId kernel = none;        ///< loop of which many iterations are one call
  bool test_after = false;           ///< loop: iterate
  bool is_reduced = false;           ///< array_new: see opt/launches/reduced_arrays.hpp
  bool has_deviation = false;        ///< array_new: that is reduced, also to its deviation
  bool is_filled = false;            ///< array_new: see opt/launches/filled_arrays.hpp
  bool is_tracked = false;           ///< array_new, array_insert, array_get, copy: see Note [tracked arrays]
  FillOrder fill_order = FillOrder::any;  ///< array_new: that is tracked
  bool is_chain = false;                  ///< foreach_range: of one iteration, see opt/launches/short_chains.hpp
  bool is_needed = false;  ///< foreach_range: no point gives a result without all that its launch captures
  vm::Placement placement = vm::Placement::any;  ///< foreach
  std::uint32_t swallowed = 0;                   ///< foreach_range: loops that have become part of it
  vm::Barrier barrier = vm::Barrier::none;       ///< foreach_range: between it and the launch before
  bool is_whole = false;           ///< foreach: of a whole-array operation: it may wait for all elements of arrays
  std::vector<MergedLoop> merged;  ///< foreach_range that is made of several; for messages, and not in the text
  std::vector<CollapsedLoop>
      collapsed;             ///< foreach_range that stands for several, the outermost one first; not in the text
  std::uint64_t stream = 0;  ///< of random numbers: see lower/name_streams.hpp
  Operand priority;          ///< calls: @prio, index none if absent
  Operand rank;              ///< calls: what `@location` gives, likewise
  std::vector<TypeId> operand_types;  ///< call_builtin with varargs or unions: the operands' types as checked
};

struct Region {
  std::vector<VarId> parameters;  ///< of loop bodies
  std::vector<VarId> variables;   ///< declared here, parameters not included
  std::vector<Op> ops;
  RegionId parent = none;
};

enum class FunctionKind : std::uint8_t {
  composite,  ///< expanded in dataflow order
  leaf,       ///< a composite that leaf inference has proven compilable: may be called natively with inputs set
  launched,   ///< a leaf that one index launch, nest or loop calls, and nothing else: its kernel, projection or prelude
  outlined,   ///< a leaf that was a loop in another function: opt/launches/outline_loops.hpp
  app,        ///< external program: `command` below
  foreign,    ///< code outside of the script: `foreign` below; `command` has its inputs as words
};

/// Retries and limits of an app, by the name of their annotation.
enum class AppLimit : std::uint8_t { retry, timeout, prio, cores, memory, ok };
struct AppLimitInfo {
  const char* name;
  TypeId type;
};
inline constexpr std::array<AppLimitInfo, 6> app_limits = {{{"retry", TypeStore::int_},
                                                            {"timeout", TypeStore::float_},
                                                            {"prio", TypeStore::int_},
                                                            {"cores", TypeStore::int_},
                                                            {"memory", TypeStore::float_},
                                                            {"ok", TypeStore::string}}};

/// One word of an app's command line, the file of a redirection, a limit: an operand over the function's parameters.
struct Command {
  std::vector<Operand> words;
  Operand stdin_file, stdout_file, stderr_file;   ///< index none if absent
  std::array<Operand, app_limits.size()> limits;  ///< by AppLimit; index none if absent
};

enum class ForeignKind : std::uint8_t { library, isolated_library, tcl_template, tcl_procedure, app_kernel, python, r };
/// Arrays that it gives tell their extents.
constexpr bool gives_extents(ForeignKind kind) { return kind == ForeignKind::python || kind == ForeignKind::r; }
struct Foreign {
  ForeignKind kind = ForeignKind::library;
  std::string library;  ///< shared library, Tcl package, file of the AppKernel or in R, module in Python
  std::string version;  ///< of the Tcl package; of a module in Python the folder where it is looked for first
  std::string code;     ///< C symbol, Tcl template, name of a Tcl procedure, an AppKernel, a function in Python or R
  std::vector<std::string> outputs = {};  ///< Tcl: all names in the order of the declaration
  std::string varargs = "";               ///< Tcl: name of the parameters at the end that are a variable number
  /// C, Python, R: of parameters, then of outputs. Of the elements of a dense array how many extents there are: those
  /// of an input follow it, those of outputs are the last parameters, and in Python and R follow each output, too.
  /// 0: anything else. Empty: all are 0.
  std::vector<std::uint32_t> ranks = {};
  Span place = {};  ///< AppKernel: of its name in the script
};

struct Function {
  std::string name;  ///< unique in the module: overloads are "f", "f.1", ...
  FunctionKind kind = FunctionKind::composite;
  bool is_leaf() const {
    return kind == FunctionKind::leaf || kind == FunctionKind::launched || kind == FunctionKind::outlined;
  }
  /// Parameters in order: file outputs, inputs, then globals read by the function.
  std::vector<VarId> parameters;
  std::uint32_t file_output_count = 0;
  std::vector<VarId> outputs;  ///< not files
  std::vector<Var> variables;
  std::vector<Region> regions;        ///< regions[0] is the body
  std::vector<IndexLaunch> launches;  ///< each of one `foreach` of this function
  std::vector<LaunchNest> nests;      ///< likewise
  std::vector<LoopKernel> kernels;    ///< each of one `loop` of this function
  Command command;                    ///< app: words are computed by the ops of regions[0]
  Foreign foreign;
  vm::Placement placement = vm::Placement::any;  ///< of loops whose points call it
  bool demands_leaf = false;                     ///< @leaf: leaf inference reports what stands in the way
  std::string not_leaf_reason;                   ///< set by leaf inference where kind stays composite
  struct NotLaunched {
    Span loop, obstacle;
    std::string_view why;
  };
  /// Set by index-launches: loops over ranges, and what keeps them from being launches.
  std::vector<NotLaunched> not_launched = {};
  Span span;
};

struct Module {
  TypeStore* types = nullptr;  ///< the session's; outlives the module
  SourceMap* sources = nullptr;
  std::deque<Function> functions;
  FunctionId script = 0;  ///< the top-level statements; no parameters but @param's
  FunctionId entry = 0;   ///< the script, or the loop over a sweep's points, which calls it: lower/point_loop.hpp
  std::vector<Constant> constants;                                     ///< shared pool
  std::unordered_multimap<std::size_t, std::uint32_t> constant_index;  ///< by hash; kept by constant()
  std::uint32_t constant(Constant value);                              ///< index of an equal constant, added if absent
  FunctionId find(std::string_view name) const;                        ///< none if absent
};

TypeId type_of(const Module& module, const Function& function, Operand operand);

/// What a loop consists of, itself first; empty: it is only one, which has no name.
std::vector<MergedLoop> loops_in(const Function& function, const Op& loop);

}  // namespace raddle::ir
