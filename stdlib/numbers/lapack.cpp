// Linear algebra by LAPACK, which is looked for when the first function needs it: nothing of it is needed to build.
#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stdlib/numbers/linear_algebra.hpp"
#include "vm/value/environment.hpp"

namespace raddle::stdlib::native {
namespace {

using Int = int;             // of Fortran, as Debian builds these libraries
using Length = std::size_t;  // of each text, behind all other arguments

/// The functions as their authors name them; all arguments are addresses.
struct Functions {
  void (*dgemm)(const char* transa, const char* transb, const Int* m, const Int* n, const Int* k, const double* alpha,
                const double* a, const Int* lda, const double* b, const Int* ldb, const double* beta, double* c,
                const Int* ldc, Length, Length);
  void (*dgetrf)(const Int* m, const Int* n, double* a, const Int* lda, Int* pivots, Int* info);
  void (*dgetrs)(const char* trans, const Int* n, const Int* count, const double* a, const Int* lda, const Int* pivots,
                 double* b, const Int* ldb, Int* info, Length);
  void (*dpotrf)(const char* uplo, const Int* n, double* a, const Int* lda, Int* info, Length);
  void (*dgeqrf)(const Int* m, const Int* n, double* a, const Int* lda, double* tau, double* work, const Int* lwork,
                 Int* info);
  void (*dorgqr)(const Int* m, const Int* n, const Int* k, double* a, const Int* lda, const double* tau, double* work,
                 const Int* lwork, Int* info);
  void (*dgesdd)(const char* jobz, const Int* m, const Int* n, double* a, const Int* lda, double* s, double* u,
                 const Int* ldu, double* vt, const Int* ldvt, double* work, const Int* lwork, Int* iwork, Int* info,
                 Length);
  void (*dsyevd)(const char* jobz, const char* uplo, const Int* n, double* a, const Int* lda, double* w, double* work,
                 const Int* lwork, Int* iwork, const Int* liwork, Int* info, Length, Length);
};

Int int_of(std::size_t extent) { return static_cast<Int>(extent); }
/// Of a column to the next; LAPACK wants at least 1.
Int stride(const ColumnMatrix& a) { return std::max(1, int_of(a.rows)); }

/// Calls a function twice: first it says in work[0] how many numbers it needs to work with.
template <typename Call>
void with_work(Call call) {
  double needed = 0;
  const Int ask = -1;
  call(&needed, &ask);
  const Int size = std::max(1, static_cast<Int>(needed));
  std::vector<double> work(static_cast<std::size_t>(size));
  call(work.data(), &size);
}

class Lapack final : public LinearAlgebra {
 public:
  explicit Lapack(const Functions& functions) : call_(functions) {}

  /// What lies row by row is the transposed matrix column by column: b^T a^T is c^T.
  void multiply(const double* a, const double* b, double* c, std::size_t n, std::size_t k,
                std::size_t m) const override {
    const Int rows = int_of(m), columns = int_of(n), inner = int_of(k), stride_b = std::max(1, rows),
              stride_a = std::max(1, inner);
    const double one = 1, nothing = 0;
    call_.dgemm("N", "N", &rows, &columns, &inner, &one, b, &stride_b, a, &stride_a, &nothing, c, &stride_b, 1, 1);
  }

  bool lu(ColumnMatrix& a, std::vector<int>& pivots) const override {
    pivots.resize(std::min(a.rows, a.columns));
    const Int m = int_of(a.rows), n = int_of(a.columns), lda = stride(a);
    Int info = 0;
    call_.dgetrf(&m, &n, a.elements.data(), &lda, pivots.data(), &info);
    return info == 0;
  }

  void solve(const ColumnMatrix& factors, const std::vector<int>& pivots, ColumnMatrix& b) const override {
    const Int n = int_of(factors.rows), count = int_of(b.columns), lda = stride(factors), ldb = stride(b);
    Int info = 0;
    call_.dgetrs("N", &n, &count, factors.elements.data(), &lda, pivots.data(), b.elements.data(), &ldb, &info, 1);
  }

  bool cholesky(ColumnMatrix& a) const override {
    const Int n = int_of(a.rows), lda = stride(a);
    Int info = 0;
    call_.dpotrf("L", &n, a.elements.data(), &lda, &info, 1);
    return info == 0;
  }

  ColumnMatrix qr(ColumnMatrix& a) const override {
    const std::size_t steps = std::min(a.rows, a.columns);
    const Int m = int_of(a.rows), n = int_of(a.columns), k = int_of(steps), lda = stride(a);
    std::vector<double> factors(std::max<std::size_t>(1, steps));
    Int info = 0;
    with_work([&](double* work, const Int* size) {
      call_.dgeqrf(&m, &n, a.elements.data(), &lda, factors.data(), work, size, &info);
    });
    ColumnMatrix r(steps, a.columns);
    for (std::size_t j = 0; j < a.columns; ++j) std::copy_n(a.column(j), std::min(j + 1, steps), r.column(j));
    a.columns = steps;
    a.elements.resize(a.rows * steps);
    with_work([&](double* work, const Int* size) {
      call_.dorgqr(&m, &k, &k, a.elements.data(), &lda, factors.data(), work, size, &info);
    });
    return r;
  }

  std::optional<SingularValues> svd(ColumnMatrix a) const override {
    const std::size_t count = std::min(a.rows, a.columns);
    SingularValues result{{a.rows, count}, std::vector<double>(count), {count, a.columns}};
    if (count == 0) return result;
    const Int m = int_of(a.rows), n = int_of(a.columns), lda = stride(a), ldvt = stride(result.vt);
    std::vector<Int> iwork(8 * count);
    Int info = 0;
    with_work([&](double* work, const Int* size) {
      call_.dgesdd("S", &m, &n, a.elements.data(), &lda, result.s.data(), result.u.elements.data(), &lda,
                   result.vt.elements.data(), &ldvt, work, size, iwork.data(), &info, 1);
    });
    if (info != 0) return std::nullopt;
    return result;
  }

  std::optional<std::vector<double>> eigh(ColumnMatrix& a) const override {
    const Int n = int_of(a.rows), lda = stride(a), ask = -1;
    std::vector<double> values(a.rows);
    if (n == 0) return values;
    Int info = 0, ints = 0;
    double floats = 0;
    call_.dsyevd("V", "L", &n, a.elements.data(), &lda, values.data(), &floats, &ask, &ints, &ask, &info, 1, 1);
    const Int size = static_cast<Int>(floats);
    std::vector<double> work(static_cast<std::size_t>(size));
    std::vector<Int> iwork(static_cast<std::size_t>(ints));
    call_.dsyevd("V", "L", &n, a.elements.data(), &lda, values.data(), work.data(), &size, iwork.data(), &ints, &info,
                 1, 1);
    if (info != 0) return std::nullopt;
    return values;
  }

 private:
  const Functions call_;
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// OpenBLAS starts a thread for each processor that it may use when it is loaded, and they spin for a tenth of a second
/// before they sleep. Workers are what is parallel here, so it sees one processor: the one of this thread. (It would
/// heed OPENBLAS_NUM_THREADS, too, but nobody may change the environment while other threads read it.)
void* load_on_one_processor(const char* name) {
  cpu_set_t before, one;
  const bool is_known = sched_getaffinity(0, sizeof before, &before) == 0;
  CPU_ZERO(&one);
  if (const int here = sched_getcpu(); here >= 0) CPU_SET(here, &one);
  const bool is_alone = is_known && sched_setaffinity(0, sizeof one, &one) == 0;
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (is_alone) sched_setaffinity(0, sizeof before, &before);
  return library;
}

/// What OpenBLAS is to take this processor for, where it is newer than the library: that takes its oldest code then, a
/// quarter as fast. @return null: it is known, or no more than that
const char* core_variable(void* library) {
#if defined(__x86_64__)
  char* (*name)() = nullptr;
  const bool is_unknown = find(library, "openblas_get_corename", name) && std::string_view(name()) == "Prescott";
  if (!is_unknown || std::getenv("OPENBLAS_CORETYPE") != nullptr) return nullptr;
  if (__builtin_cpu_supports("x86-64-v4")) return "OPENBLAS_CORETYPE=SKYLAKEX";
  if (__builtin_cpu_supports("x86-64-v3")) return "OPENBLAS_CORETYPE=HASWELL";
#endif
  return nullptr;
}

void* load(const char* name) {
  void* library = load_on_one_processor(name);
  const char* const variable = library == nullptr ? nullptr : core_variable(library);
  if (variable == nullptr) return library;
  dlclose(library);
  vm::with_variable(variable, [&] { library = load_on_one_processor(name); });
  return library;
}

std::unique_ptr<const Lapack> loaded() {
  for (const char* const name : {"libopenblas.so.0", "liblapack.so.3"}) {
    void* const library = load(name);
    if (library == nullptr) continue;
    // results do not depend on the machine's cores
    if (void (*set_threads)(int); find(library, "openblas_set_num_threads", set_threads)) set_threads(1);
    Functions functions{};
    if (find(library, "dgemm_", functions.dgemm) && find(library, "dgetrf_", functions.dgetrf) &&
        find(library, "dgetrs_", functions.dgetrs) && find(library, "dpotrf_", functions.dpotrf) &&
        find(library, "dgeqrf_", functions.dgeqrf) && find(library, "dorgqr_", functions.dorgqr) &&
        find(library, "dgesdd_", functions.dgesdd) && find(library, "dsyevd_", functions.dsyevd))
      return std::make_unique<const Lapack>(functions);
  }
  return nullptr;
}

}  // namespace

const LinearAlgebra* lapack() {
  static const std::unique_ptr<const Lapack> found = loaded();
  return found.get();
}

}  // namespace raddle::stdlib::native
