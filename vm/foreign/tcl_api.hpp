#pragma once
// The few functions of libtcl that templates need, from the library that dlopen finds: nothing of Tcl is needed to
// build, and a script without Tcl never loads it. Signatures as in Tcl 8.6's tcl.h.
#include <expected>
#include <string>

namespace raddle::vm {

struct Tcl_Interp;
struct Tcl_Obj;
struct Tcl_Command;

/// A command of Tcl in C++. @return 0: it went well
using TclCommandFunction = int (*)(void* client_data, Tcl_Interp* interpreter, int count, Tcl_Obj* const* words);

// name, result, parameters
#define RADDLE_TCL_FUNCTIONS(FUNCTION)                                                          \
  FUNCTION(Tcl_FindExecutable, void, (const char* program))                                     \
  FUNCTION(Tcl_CreateInterp, Tcl_Interp*, ())                                                   \
  FUNCTION(Tcl_DeleteInterp, void, (Tcl_Interp * interpreter))                                  \
  FUNCTION(Tcl_Init, int, (Tcl_Interp * interpreter))                                           \
  FUNCTION(Tcl_EvalObjEx, int, (Tcl_Interp * interpreter, Tcl_Obj * script, int flags))         \
  FUNCTION(Tcl_CreateObjCommand, Tcl_Command*,                                                  \
           (Tcl_Interp*, const char* name, TclCommandFunction, void* data, void (*end)(void*))) \
  FUNCTION(Tcl_SetObjResult, void, (Tcl_Interp * interpreter, Tcl_Obj * result))                \
  FUNCTION(Tcl_GetObjResult, Tcl_Obj*, (Tcl_Interp * interpreter))                              \
  FUNCTION(Tcl_NewStringObj, Tcl_Obj*, (const char* bytes, int length))                         \
  FUNCTION(Tcl_NewListObj, Tcl_Obj*, (int count, Tcl_Obj* const* elements))                     \
  FUNCTION(Tcl_ListObjAppendElement, int, (Tcl_Interp*, Tcl_Obj * list, Tcl_Obj * element))     \
  FUNCTION(Tcl_ListObjGetElements, int, (Tcl_Interp*, Tcl_Obj * list, int* n, Tcl_Obj*** all))  \
  FUNCTION(Tcl_GetStringFromObj, char*, (Tcl_Obj * object, int* length))                        \
  FUNCTION(Tcl_GetWideIntFromObj, int, (Tcl_Interp*, Tcl_Obj * object, long* value))            \
  FUNCTION(Tcl_GetDoubleFromObj, int, (Tcl_Interp*, Tcl_Obj * object, double* value))           \
  FUNCTION(Tcl_GetBooleanFromObj, int, (Tcl_Interp*, Tcl_Obj * object, int* value))             \
  FUNCTION(Tcl_GetByteArrayFromObj, unsigned char*, (Tcl_Obj * object, int* count))             \
  FUNCTION(Tcl_NewByteArrayObj, Tcl_Obj*, (const unsigned char* bytes, int count))              \
  FUNCTION(Tcl_DbIncrRefCount, void, (Tcl_Obj * object, const char* file, int line))            \
  FUNCTION(Tcl_DbDecrRefCount, void, (Tcl_Obj * object, const char* file, int line))

struct TclApi {
#define RADDLE_TCL_MEMBER(name, result, parameters) result(*name) parameters = nullptr;
  RADDLE_TCL_FUNCTIONS(RADDLE_TCL_MEMBER)
#undef RADDLE_TCL_MEMBER
};

/// Loads libtcl at the first call; any thread.
/// @return  the text of the error: which library is missing
const std::expected<TclApi, std::string>& tcl_api();

}  // namespace raddle::vm
