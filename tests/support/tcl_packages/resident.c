/* R with a model exploration, resident in a worker: a thread runs the script, which hands out points and takes results. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct SEXPREC* SEXP;
int Rf_initialize_R(int, char**);
void setup_Rmainloop(void);
SEXP Rf_mkString(const char*), R_ParseVector(SEXP, int, int*, SEXP), R_tryEval(SEXP, SEXP, int*), VECTOR_ELT(SEXP, long), STRING_ELT(SEXP, long);
SEXP Rf_protect(SEXP);
const char* R_CHAR(SEXP);
int Rf_length(SEXP);
extern SEXP R_NilValue, R_GlobalEnv;
extern uintptr_t R_CStackLimit;
typedef struct { const char* name; void* function; int count; } R_CallMethodDef;
void* R_getEmbeddingDllInfo(void);
int R_registerRoutines(void*, const void*, const R_CallMethodDef*, const void*, const void*);

typedef struct Tcl_Interp Tcl_Interp;
typedef struct Tcl_Obj Tcl_Obj;
typedef int Command(void*, Tcl_Interp*, int, Tcl_Obj* const*);
void* Tcl_CreateObjCommand(Tcl_Interp*, const char*, Command*, void*, void*);
const char* Tcl_GetString(Tcl_Obj*);
Tcl_Obj* Tcl_NewStringObj(const char*, int);
void Tcl_SetObjResult(Tcl_Interp*, Tcl_Obj*);
int Tcl_PkgProvideEx(Tcl_Interp*, const char*, const char*, const void*);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char* slots[2]; /* out, in */
static char* script;

static void put(int slot, const char* text) {
  pthread_mutex_lock(&mutex);
  while (slots[slot]) pthread_cond_wait(&changed, &mutex);
  slots[slot] = strdup(text);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}
static char* take(int slot) {
  pthread_mutex_lock(&mutex);
  while (!slots[slot]) pthread_cond_wait(&changed, &mutex);
  char* text = slots[slot];
  slots[slot] = NULL;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  return text;
}
static SEXP out_put(SEXP text) { put(0, R_CHAR(STRING_ELT(text, 0))); return R_NilValue; }
static SEXP in_get(void) { return Rf_mkString(take(1)); }

static void evaluate(const char* text) {
  int status = 0, failed = 0;
  SEXP code = Rf_protect(R_ParseVector(Rf_protect(Rf_mkString(text)), -1, &status, R_NilValue));
  for (int i = 0; i < Rf_length(code) && !failed; ++i) R_tryEval(VECTOR_ELT(code, i), R_GlobalEnv, &failed);
  if (failed) put(0, "failed");
}
static void* explore(void* is_own) {
  char* words[] = {"R", "--no-save", "--no-restore", "--silent", "--vanilla"};
  Rf_initialize_R(5, words);
  if (is_own) R_CStackLimit = (uintptr_t)-1; /* as the stack is that of a thread */
  setup_Rmainloop();
  static const R_CallMethodDef calls[] = {{"out_put", (void*)out_put, 1}, {"in_get", (void*)in_get, 0}, {0, 0, 0}};
  R_registerRoutines(R_getEmbeddingDllInfo(), NULL, calls, NULL, NULL);
  evaluate("OUT_put <- function(x) invisible(.Call('out_put', x, PACKAGE = '(embedding)')); IN_get <- function() .Call('in_get', PACKAGE = '(embedding)')");
  if (is_own) evaluate(script);
  return NULL;
}
static int init(void* data, Tcl_Interp* tcl, int count, Tcl_Obj* const* words) {
  pthread_t thread;
  script = strdup(Tcl_GetString(words[1]));
  return pthread_create(&thread, NULL, explore, "own") != 0;
}
static int get(void* data, Tcl_Interp* tcl, int count, Tcl_Obj* const* words) {
  char* text = take(0);
  Tcl_SetObjResult(tcl, Tcl_NewStringObj(text, -1));
  free(text);
  return 0;
}
static int give(void* data, Tcl_Interp* tcl, int count, Tcl_Obj* const* words) { put(1, Tcl_GetString(words[1])); return 0; }
/* R on the thread that is asked: it looks how much of its stack is used. */
static int here(void* data, Tcl_Interp* tcl, int count, Tcl_Obj* const* words) {
  static int is_there = 0;
  if (!is_there++) explore(NULL);
  evaluate(Tcl_GetString(words[1]));
  SEXP result = Rf_protect(R_tryEval(VECTOR_ELT(Rf_protect(R_ParseVector(Rf_mkString("kept"), -1, &(int){0}, R_NilValue)), 0), R_GlobalEnv, NULL));
  Tcl_SetObjResult(tcl, Tcl_NewStringObj(R_CHAR(STRING_ELT(result, 0)), -1));
  return 0;
}
int Resident_Init(Tcl_Interp* tcl) {
  Tcl_CreateObjCommand(tcl, "resident_init", init, NULL, NULL);
  Tcl_CreateObjCommand(tcl, "resident_get", get, NULL, NULL);
  Tcl_CreateObjCommand(tcl, "resident_put", give, NULL, NULL);
  Tcl_CreateObjCommand(tcl, "resident_here", here, NULL, NULL);
  return Tcl_PkgProvideEx(tcl, "resident", "0.1", NULL);
}
