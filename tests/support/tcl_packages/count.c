/* It counts calls in a variable of the process, without a lock. */
#include <signal.h>

typedef struct Tcl_Interp Tcl_Interp;
typedef struct Tcl_Obj Tcl_Obj;
typedef int Command(void*, Tcl_Interp*, int, Tcl_Obj* const*);
void* Tcl_CreateObjCommand(Tcl_Interp*, const char*, Command*, void*, void*);
Tcl_Obj* Tcl_NewIntObj(int);
void Tcl_SetObjResult(Tcl_Interp*, Tcl_Obj*);
int Tcl_PkgProvideEx(Tcl_Interp*, const char*, const char*, const void*);

static int calls;

static int count(void* data, Tcl_Interp* tcl, int words, Tcl_Obj* const* all) {
  (void)data, (void)words, (void)all;
  Tcl_SetObjResult(tcl, Tcl_NewIntObj(++calls));
  return 0;
}

static int crash(void* data, Tcl_Interp* tcl, int words, Tcl_Obj* const* all) {
  (void)data, (void)tcl, (void)words, (void)all;
  return raise(SIGSEGV);
}

int Count_Init(Tcl_Interp* tcl) {
  Tcl_CreateObjCommand(tcl, "count_calls", count, 0, 0);
  Tcl_CreateObjCommand(tcl, "count_crash", crash, 0, 0);
  return Tcl_PkgProvideEx(tcl, "count", "1.0", 0);
}
