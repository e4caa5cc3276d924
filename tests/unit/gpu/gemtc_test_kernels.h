/* The kernels of gemtc_test.c, for both: C for threads of the host, C++ for GPUs. */
#include <stdint.h>

/* The fake driver has its cards' memory on the host, by addresses with this bit. */
#define ON_HOST(type, address) ((type*)((uint64_t)(uintptr_t)(address) & ~((uint64_t)1 << 60)))

/* What a task of `add` finds at its parameters. */
struct sums {
  const double *a, *b;
  double* sums;
};

static int32_t add(void* parameters, int64_t thread, int64_t threads) {
  const struct sums* const task = ON_HOST(const struct sums, parameters);
  (void)threads;
  ON_HOST(double, task->sums)[thread] = ON_HOST(const double, task->a)[thread] + ON_HOST(const double, task->b)[thread];
  return 0;
}

/* Fails for each thread from the given one on. */
static int32_t fail_from(void* parameters, int64_t thread, int64_t threads) {
  (void)threads;
  return thread >= *ON_HOST(const int64_t, parameters) ? (int32_t)(thread + 1) : 0;
}

static int32_t nothing(void* parameters, int64_t thread, int64_t threads) {
  (void)parameters, (void)thread, (void)threads;
  return 0;
}

/* Each thread adds 1 to a word of its own, if there are as many as the task has. */
static int32_t count(void* parameters, int64_t thread, int64_t threads) {
  ON_HOST(int64_t, parameters)[thread] += threads == 64;
  return 0;
}
