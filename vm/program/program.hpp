#pragma once
// What the VM runs: functions made of bodies, bodies made of regions, regions of strands, strands of instructions.
// Made once by compiler/emit, then shared by all workers, never changed and never moved: values of the run refer to its
// names.
//
//   Body     what one frame is an activation of: a function's body, one iteration of a `foreach` or of a loop, what
//            may fail in an attempt.
//            Branch arms and `wait` blocks run at most once in an activation, so they are further regions of the body
//            around them and share its frame.
//   Strand   instructions of one region that can go once the same inputs are there, in an order that respects their
//            operands. It never blocks. Strands of a region stand in topological order: those whose inputs are there
//            when the region is entered run at once, one after the other, the others are armed.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vm/kernel/kernel_compiler.hpp"
#include "vm/kernel/kernel.hpp"
#include "vm/kernel/lane_code.hpp"
#include "vm/kernel/placement.hpp"
#include "vm/kernel/scalar_code.hpp"
#include "vm/kernel/fusion.hpp"
#include "vm/program/builtin_abi.hpp"
#include "vm/program/element_writers.hpp"
#include "vm/program/index_launch.hpp"
#include "vm/program/operand.hpp"
#include "vm/value/failure.hpp"
#include "vm/value/value.hpp"

namespace raddle::vm {

enum class Opcode : std::uint8_t {
#define RADDLE_OPCODE(name, form) name,
#include "vm/program/opcodes.def"
#undef RADDLE_OPCODE
};

enum class InstructionForm : std::uint8_t {
  make,
  unary,
  binary,
  ternary,
  list,
  insert,
  hold,
  row,
  append,
  store,
  call,
  builtin,
  app,
  branch,
  foreach,
  loop,
  loop_test,
  attempt,
  memo,
};
InstructionForm form_of(Opcode opcode);
const char* text_of(Opcode opcode);

/// See opcodes.def for the meaning of the fields.
struct Instruction {
  Opcode opcode = Opcode::copy;
  /// The result is read by later instructions of this strand only (or by what they start): it is stored without
  /// looking for waiters.
  bool is_private = false;
  Operand a, b, c;
  std::uint32_t d = 0;
};

/// What must be true of an input before the strand may go.
enum class AwaitMode : std::uint8_t {
  set,     ///< the reference is there
  named,   ///< file, url: it has its name, for ever
  closed,  ///< array, bag: all writers are done; file: complete; structure: all fields are closed
  deep,    ///< closed and all elements, recursively
};
const char* text_of(AwaitMode mode);

struct AwaitedInput {
  Operand variable;
  AwaitMode mode = AwaitMode::set;
};

struct Strand {
  std::uint32_t first_instruction = 0, instruction_count = 0;
  std::uint32_t first_awaited = 0, awaited_count = 0;
  std::uint32_t state = no_id;  ///< index of its StrandState in the frame; no_id: awaits nothing, never armed
  BodyId body = 0;
};

struct Region {
  StrandId first_strand = 0;
  std::uint32_t strand_count = 0;
};

/// An assignment that runs only if a branch is taken or a loop has iterations: for the diagnosis of stuck runs.
struct GuardedAssignment {
  Place assignment;
  Place guard;  ///< the innermost `if`, `switch`, `foreach`... around it
  /// Not of the variable, but of a field of the structure it is: "x", "inner.x".
  std::string field = {};
};

struct VariableInfo {
  std::string name;  ///< "" for temporaries
  Place place;       ///< declaration
  std::vector<GuardedAssignment> guarded;
};

/// What messages call an array, and how it is kept.
struct ArrayInfo {
  std::string name;
  Place place;
  bool is_reduced = false;     ///< Array::keep_reductions
  bool has_deviation = false;  ///< of one that is reduced
  std::uint32_t rank = 0;      ///< of a dense array's elements: the instruction's list has so many extents
  std::optional<KernelType> filled_with = {};  ///< numbers of this type: Array::expect_numbers
};

struct StructureInfo {
  std::string name;
  std::vector<std::string> fields;
};

/// Frame layout: `future_count` futures, then the pointers to output futures, then strand states.
struct Body {
  FunctionId function = 0;
  BodyId parent = no_id;           ///< the body around: level 1; no_id for functions
  RegionId region = 0;             ///< run when the frame is activated
  std::uint32_t future_count = 0;  ///< parameters come first, in order
  std::uint32_t output_count = 0;  ///< slots future_count.. hold Future*
  std::uint32_t state_count = 0;
  std::vector<VariableInfo> variables;  ///< by slot, outputs included
};

struct Function {
  std::string name;
  BodyId body = no_id;  ///< no_id: what a launch computes, a kernel alone
  std::uint32_t parameter_count = 0;
  std::uint32_t output_count = 0;
  bool is_leaf = false;           ///< may be called natively: by kernels[its FunctionId]
  bool is_heavy = false;          ///< leaf with a loop or recursion
  bool is_outlined = false;       ///< leaf that is a loop in the text of another function
  bool starts_programs = false;   ///< calls an app, or a function that does
  bool calls_library = false;     ///< leaf of an index launch that calls C functions: they may take long, and print
  std::uint32_t foreign = no_id;  ///< index into Program::foreigns
  bool is_sequential = false;     ///< leaf with code, and nothing in it is worth sharing: no two calls of heavy leaves
  std::vector<KernelType> leaf_parameters, leaf_results;
  ScalarCode scalar_code;  ///< of its kernel
  LaneCode lane_code;      ///< likewise
  KernelEntry kernel_entry;
  Placement placement = Placement::any;  ///< of loops whose points call it
  Place place;
};

struct CallSite {
  FunctionId function = 0;
  std::vector<Operand> arguments;
  std::vector<Operand> results;
  Operand priority;  ///< absent: that of the caller
  Operand rank;      ///< likewise: a RankWish
  /// All results are outputs of the calling function: they are passed straight on, so that the caller need not stay.
  bool is_tail = false;
  std::vector<std::uint32_t> number_arrays = {};  ///< which arguments are arrays of numbers with small ints as keys
  bool makes_dense = false;                       ///< some result is a dense array
};

/// Which files a library function reads, or looks for.
enum class FilesRead : std::uint8_t {
  none,
  of_inputs,   ///< its inputs that are files
  of_path,     ///< the first input is a path
  of_time,     ///< the same, and when it was written is what matters
  of_link,     ///< the first input is a path or file, and where its links lead to is what matters
  of_pattern,  ///< the first input is a pattern of paths
  of_words,    ///< the inputs are words of a command line
};

struct BuiltinSite {
  std::string name;
  BuiltinFunction function = nullptr;
  std::uint32_t file_output_count = 0;  ///< leading arguments, marked complete after the call
  std::vector<Operand> arguments;
  std::vector<Operand> results;    ///< one for each output that is no file; may be absent
  std::vector<bool> returns_void;  ///< by result
  Operand priority = {};           ///< absent: called where its inputs are set
  Operand rank = {};               ///< absent: that of the caller; a RankWish
  FilesRead files_read = FilesRead::none;
  bool tells_incomplete = false;  ///< `@complete`: that its array has failed because it lacks elements
  bool runs_code = false;         ///< a program, or code in another language, which may make files
};

/// How many writers of an array the operations of a region that is being entered hold.
struct WriterShare {
  Operand array;
  std::uint32_t writers = 0;
};

struct Arm {
  RegionId region = no_id;  ///< no_id: empty
  std::vector<WriterShare> shares;
};

/// `if`: arms then, else. `switch`: one for each label, then the default. `wait`: one. Holds one writer of each array
/// that some arm may write.
struct BranchSite {
  std::vector<Arm> arms;
  std::vector<std::int64_t> labels;
  std::vector<Operand> assigned;  ///< variables of the regions around that some arm may assign: they fail with it
  std::vector<Operand> written;   ///< arrays of which this instruction holds one writer
  std::vector<Operand> awaited;   ///< `wait`: what it waits for
};

/// By which variable of a loop messages tell what fails in its text.
struct ToldLoop {
  Place place;
  std::string variable;    ///< "": an operation on whole arrays, told by its elements
  std::uint32_t slot = 0;  ///< of the variable
};

/// One of the loops of which a loop goes through all iterations (Note [collapsed nests] in compiler/opt). Operands:
/// seen from the frame around.
struct CollapsedLoop {
  std::vector<ToldLoop> told;  ///< as ForeachSite::told; slot 0 is the variable, 1 counts
  Operand low;
  Operand each;  ///< how many iterations of the one loop one of this loop stands for
};

struct ForeachSite {
  BodyId body = 0;
  std::uint32_t parameter_count = 0;  ///< 2: slots 0, 1 are value and key; 1: the value only
  std::vector<WriterShare> shares;    ///< of one iteration, seen from the frame around
  std::vector<Operand> assigned, written;
  IndexLaunch launch = {};  ///< of a nest: the inner loop's
  LaunchNest nest = {};
  bool is_in_nest = false;  ///< the inner loop of one
  Placement placement = Placement::any;
  Fusion fusion = {};
  std::uint32_t gathering = no_id;            ///< the site of the loop that reads whole arrays, which have to be closed
  std::vector<ToldLoop> told = {};            ///< the loops that it consists of, itself first; none: it has no name
  std::vector<CollapsedLoop> collapsed = {};  ///< that it stands for, the outermost one first; else none
  Operand element_of_result = {};             ///< if a point is an element's key: the array, seen from the frame around
  bool is_nest() const { return nest.prelude != no_id; }
  /// Of this loop itself.
  bool is_launch() const { return launch.leaf != no_id && !is_nest(); }
};

/// What may fail: a frame of its own, at whose end the instruction's result is set.
struct AttemptSite {
  BodyId body = 0;
  std::vector<WriterShare> shares;  ///< of the body, seen from the frame around
  std::vector<Operand> assigned, written;
};

/// An operation of a loop's body that inserts numbers: see compiler/ir/loop_kernel.hpp.
struct LoopSink {
  Operand array;  ///< seen from the frame around the loop
  bool is_sometimes = false;
  std::int64_t history = 0, stride = 0;
  Place place;
};

/// What runs many iterations of a loop in one call. Its parameters and outputs: see compiler/ir/loop_kernel.hpp; its
/// rows follow its first parameter.
struct LoopKernelSite {
  FunctionId leaf = no_id;        ///< absent: there is none
  std::vector<Operand> captures;  ///< seen from the frame around the loop
  std::vector<LoopSink> sinks;
  bool exists() const { return leaf != no_id; }
};

struct LoopSite {
  BodyId body = 0;
  std::vector<Operand> initial;  ///< seen from the frame around the loop
  std::vector<Operand> results;  ///< the same; may be empty
  std::vector<Operand> assigned, written;
  std::vector<WriterShare> shares;  ///< of the test, seen from the frame around the loop
  Place place;
  // seen from the iteration's frame:
  Arm step;  ///< run when there is a next iteration; `iterate`: empty
  std::vector<Operand> nexts;
  bool test_after = false;  ///< `iterate`: the condition ends the loop when it is true
  LoopKernelSite kernel;
};

/// The program that an app function runs once its words are there, or the code outside of the script that another
/// function consists of. Operands: seen from the function's frame.
struct AppSite {
  std::string label;              ///< the function's name in the script
  std::vector<Operand> words;     ///< inputs of foreign code
  std::uint32_t foreign = no_id;  ///< index into Program::foreigns
  Operand stdin_file, stdout_file, stderr_file;
  Operand retry, timeout, priority, cores, memory;  ///< absent where not given
  Operand ok;                                       ///< likewise: exit codes as a text
  std::vector<Operand> file_outputs;                ///< urls among them
  std::vector<Operand> url_outputs;
  std::vector<Operand> named_outputs;  ///< from whose names words are computed
  std::vector<Operand> outputs;        ///< that are no files: void ones of an app, and its exit code
  Operand exit_code;                   ///< which of `outputs` that is; absent: none
};

/// The type of an input or output of code outside of the script, or of what is kept on disk.
struct ForeignType {
  ValueKind kind = ValueKind::void_;
  ValueKind key = ValueKind::none;       ///< of arrays
  std::vector<ForeignType> element;      ///< of arrays and bags: one; of structures one for each field
  std::vector<std::string> fields = {};  ///< of structures: their names
};
struct ForeignFormal {
  std::string name;
  ForeignType type;
  /// C, Python, R: of the elements of a dense array how many extents there are. Those of an input are the inputs that
  /// follow it; those that outputs are to have are the last inputs, in Python and R -1 where any will do, and those
  /// that they have are there the outputs that follow each. 0: anything else.
  std::uint32_t rank = 0;
};

enum class ForeignKind : std::uint8_t { library, isolated_library, tcl_template, tcl_procedure, app_kernel, python, r };
/// Code outside of the script that a function consists of.
struct ForeignFunction {
  ForeignKind kind = ForeignKind::library;
  std::string name;  ///< in the script
  Place place = {};  ///< of its declaration
  /// The shared library, the Tcl package, the file of the AppKernel or in R, or the module in Python.
  std::string library;
  std::string version;  ///< of the Tcl package; of a module in Python the folder where it is looked for first
  /// The symbol, the Tcl template, the name of the Tcl procedure, AppKernel, function in Python or R.
  std::string code;
  std::vector<ForeignFormal> files;  ///< Tcl: outputs that are files; they come before the inputs
  std::vector<ForeignFormal> inputs;
  std::vector<ForeignFormal> outputs;         ///< without files
  std::vector<std::string> declared_outputs;  ///< Tcl: names of all outputs in the order of the declaration
  std::string varargs;  ///< Tcl: the name of those of `inputs`, at the end, that are a variable number
};

/// A call whose results are kept on disk: `memo` looks for them, `memo_keep` keeps them.
struct MemoSite {
  std::string function;        ///< its name in the script
  std::string code;            ///< what the results depend on besides the inputs
  Operand key;                 ///< of `memo` the result: a string; its other results are `outputs`
  std::vector<Operand> files;  ///< outputs that are files
  std::vector<Operand> inputs;
  std::vector<std::string> input_names;
  std::vector<Operand> outputs;  ///< without files
  std::vector<ForeignType> output_types;
  Arm miss;
};

struct Program {
  std::vector<Function> functions;
  std::vector<Kernel> kernels;  ///< by function; those that are no leaves have none
  std::vector<Body> bodies;
  std::vector<Region> regions;
  std::vector<Strand> strands;
  std::vector<AwaitedInput> awaited;
  std::vector<Instruction> instructions;
  std::vector<Place> places;  ///< by instruction
  /// Text that stands in the place of a call. Places in it have the file first_inlined_text and following.
  struct InlinedText {
    std::uint32_t file;
    Place call;
  };
  static constexpr std::uint32_t first_inlined_text = std::uint32_t{1} << 31;
  std::vector<InlinedText> inlined_texts;
  /// The same: what is mixed into the stream of random numbers of what it begins.
  std::vector<std::uint64_t> streams;
  std::vector<Operand> lists;
  std::vector<Value> constants;
  std::vector<ArrayInfo> arrays;          ///< for each instruction that makes one
  std::vector<StructureInfo> structures;  ///< one for each type
  std::vector<CallSite> calls;
  std::vector<BuiltinSite> builtins;
  std::vector<BranchSite> branches;
  std::vector<ForeachSite> foreaches;
  std::vector<LoopSite> loops;
  std::vector<AttemptSite> attempts;
  std::vector<AppSite> apps;
  std::vector<ForeignFunction> foreigns;
  std::vector<MemoSite> memos;
  std::vector<ElementWriters> element_writers;        ///< of arrays whose elements are assigned at several places
  std::map<Place, std::uint32_t> element_writers_at;  ///< by each of these places
  FunctionId entry = 0;                               ///< parameters: the script's; outputs: its results
};

/// The variable that `operand` names in instructions of `body`; nullptr for constants.
const VariableInfo* find_variable(const Program& program, BodyId body, Operand operand);

}  // namespace raddle::vm
