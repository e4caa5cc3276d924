/* The interface of gemtc.h, as a C program uses it. Ends with 0 if all is as it should be, else says what is not.
 * gemtc_test            tests, on threads of the host
 * gemtc_test --gpu PTX  on a GPU, by the code in this file: gemtc_test_gpu.cpp
 * gemtc_test --lost     on one that the fake driver has, whose kernels fail
 * gemtc_test --rate [PTX]  prints how many tasks that do nothing go through in a second, on threads or on a GPU */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/gemtc/gemtc.h"
#include "tests/unit/gpu/gemtc_test_kernels.h"

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

enum { kernel_add, kernel_fail, kernel_nothing, kernel_count, kernel_number };

static const gemtc_kernel kernels[kernel_number] = {add, fail_from, nothing, count};

/* As gemtc_gpu.h has it. */
static int32_t compute_threads(gemtc_kernel kernel, const int64_t* words, int64_t* results) {
  for (int64_t thread = results[0], step = results[1]; thread < words[2]; thread += step) {
    const int32_t status = kernel((void*)words[0], thread, words[3]);
    if (status == 0) continue;
    const uint64_t failed = (uint64_t)thread << 32 | (uint32_t)status;
    uint64_t* const least = (uint64_t*)words[1];
    uint64_t old = __atomic_load_n(least, __ATOMIC_RELAXED);
    while (failed < old && !__atomic_compare_exchange_n(least, &old, failed, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      continue;
    return (int32_t)(results[0] = thread) & 0;
  }
  return (int32_t)(results[0] = words[2]) & 0;
}
#define FAKE_KERNEL(name)                                                                           \
  static int32_t fake_##name(void* worker, const int64_t* words, int64_t* results, void* failure) { \
    (void)worker, (void)failure;                                                                    \
    return compute_threads(name, words, results);                                                   \
  }
FAKE_KERNEL(add)
FAKE_KERNEL(fail_from)
FAKE_KERNEL(nothing)
FAKE_KERNEL(count)

static int take_base(struct dl_phdr_info* program, size_t size, void* base) {
  (void)size;
  *(uint64_t*)base = program->dlpi_addr;
  return 1; /* it is the first one */
}

/* The fake driver's form of code: functions of this program, and how many words they take. It asks for it when it is to
 * load the PTX of gemtc_test_gpu.cpp. */
const char* raddle_gemtc_test_code(void);
const char* raddle_gemtc_test_code(void) {
  static char text[200];
  uint64_t base = 0;
  dl_iterate_phdr(take_base, &base);
  snprintf(text, sizeof text, "super %lu 4 %lu 4 %lu 4 %lu 4", (uint64_t)fake_add - base,
           (uint64_t)fake_fail_from - base, (uint64_t)fake_nothing - base, (uint64_t)fake_count - base);
  return text;
}

static gemtc_place place = GEMTC_THREADS;
/* On a GPU each takes longer, to begin with one above all. */
static int number_of(int many) { return place == GEMTC_GPU ? many / 5 : many; }
static const char* code;

/* Ended by 0; never freed. */
static const char* text_of(const char* path) {
  enum { most = 1 << 20 };
  FILE* const file = fopen(path, "r");
  char* const text = calloc(most, 1);
  CHECK(file != NULL && text != NULL && fread(text, 1, most - 1, file) > 0);
  fclose(file);
  return text;
}

static gemtc* set_up(uint32_t workers, uint32_t task_limit, size_t memory_bytes) {
  const gemtc_options options = {kernels, kernel_number, workers, task_limit, memory_bytes, code, place};
  gemtc* device = NULL;
  CHECK(gemtc_setup(&options, &device) == GEMTC_OK && device != NULL);
  return device;
}

static void* device_memory(gemtc* device, size_t bytes) {
  void* address = NULL;
  CHECK(gemtc_malloc(device, bytes, &address) == GEMTC_OK && (uintptr_t)address % 256 == 0);
  return address;
}

static void* copied(gemtc* device, const void* from, size_t bytes) {
  void* const address = device_memory(device, bytes);
  CHECK(gemtc_copy_to_device(device, address, from, bytes) == GEMTC_OK);
  return address;
}

static gemtc_result next_result(gemtc* device) {
  gemtc_result result;
  CHECK(gemtc_poll(device, -1, &result) == GEMTC_OK);
  return result;
}

static void tasks_compute(uint32_t workers) {
  enum { most = 5000 };
  static const int64_t sizes[] = {1, 31, 32, 33, 1000, most};
  gemtc* const device = set_up(workers, 0, 0);
  static double a[most], b[most], sums[most];
  for (int i = 0; i < most; ++i) a[i] = i * 0.5, b[i] = i * 3.0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    const size_t bytes = (size_t)sizes[i] * sizeof *a;
    double *const device_a = copied(device, a, bytes), *const device_b = copied(device, b, bytes);
    const struct sums task = {device_a, device_b, device_memory(device, bytes)};
    struct sums* const parameters = copied(device, &task, sizeof task);
    CHECK(gemtc_push(device, kernel_add, sizes[i], 70 + i, parameters) == GEMTC_OK);
    const gemtc_result result = next_result(device);
    CHECK(result.id == 70 + i && result.parameters == parameters && result.status == 0 && result.failed_thread == -1);
    CHECK(gemtc_copy_from_device(device, sums, task.sums, bytes) == GEMTC_OK);
    for (int k = 0; k < sizes[i]; ++k) CHECK(sums[k] == k * 3.5);
    CHECK(gemtc_free(device, device_a) == GEMTC_OK && gemtc_free(device, device_b) == GEMTC_OK);
    CHECK(gemtc_free(device, task.sums) == GEMTC_OK && gemtc_free(device, parameters) == GEMTC_OK);
  }
  CHECK(gemtc_cleanup(device) == GEMTC_OK);
}

static void each_task_is_told_once(uint32_t workers, uint32_t task_limit) {
  enum { most = 20000 };
  static unsigned char told[most];
  const int tasks = number_of(most);
  memset(told, 0, sizeof told);
  gemtc* const device = set_up(workers, task_limit, 0);
  int64_t counts[64] = {0};
  int64_t* const words = copied(device, counts, sizeof counts);
  int pushed = 0, polled = 0, refused = 0;
  while (polled < tasks) {
    /* one that counts, of 64 threads, is alone with its words */
    const int counts_now = pushed == tasks / 2;
    gemtc_code code = GEMTC_NOTHING;
    if (pushed < tasks)
      code = gemtc_push(device, counts_now ? kernel_count : kernel_nothing, counts_now ? 64 : 1 + pushed % 40,
                        (uint64_t)pushed, words);
    if (code == GEMTC_OK) {
      ++pushed;
      continue;
    }
    CHECK(pushed == tasks || (code == GEMTC_FULL && pushed - polled == (int)task_limit));
    refused += pushed != tasks;
    const gemtc_result result = next_result(device);
    CHECK(result.id < (uint64_t)tasks && told[result.id]++ == 0 && result.status == 0);
    ++polled;
  }
  CHECK(refused > 0);
  gemtc_result result;
  CHECK(gemtc_poll(device, 0, &result) == GEMTC_NOTHING && gemtc_poll(device, -1, &result) == GEMTC_NOTHING);
  CHECK(gemtc_copy_from_device(device, counts, words, sizeof counts) == GEMTC_OK);
  for (int i = 0; i < 64; ++i) CHECK(counts[i] == 1);
  CHECK(gemtc_cleanup(device) == GEMTC_OK);
}

static void failures_are_told(uint32_t workers) {
  gemtc* const device = set_up(workers, 0, 0);
  for (int64_t bad = 0; bad < 400; bad += 37) {
    int64_t* const parameters = copied(device, &bad, sizeof bad);
    CHECK(gemtc_push(device, kernel_fail, 300, 5, parameters) == GEMTC_OK);
    const gemtc_result result = next_result(device);
    CHECK(result.failed_thread == (bad < 300 ? bad : -1) && result.status == (bad < 300 ? bad + 1 : 0));
  }
  CHECK(gemtc_cleanup(device) == GEMTC_OK);
}

static void memory_has_limits(void) {
  gemtc* const device = set_up(1, 0, 4096);
  void *blocks[16], *more = &blocks, *const large = device_memory(device, 4096);
  char bytes[512] = {0};
  CHECK(gemtc_malloc(device, 1, &more) == GEMTC_NO_MEMORY && more == &blocks);
  CHECK(gemtc_malloc(device, SIZE_MAX, &more) == GEMTC_NO_MEMORY && gemtc_malloc(device, 0, &more) == GEMTC_INVALID);
  CHECK(gemtc_free(device, large) == GEMTC_OK && gemtc_free(device, large) == GEMTC_OUTSIDE);
  for (int i = 0; i < 16; ++i) blocks[i] = device_memory(device, 100);
  CHECK(gemtc_malloc(device, 1, &more) == GEMTC_NO_MEMORY);
  CHECK(gemtc_free(device, (char*)blocks[3] + 8) == GEMTC_OUTSIDE && gemtc_free(device, bytes) == GEMTC_OUTSIDE);
  CHECK(gemtc_free(device, NULL) == GEMTC_OK);
  CHECK(gemtc_copy_to_device(device, blocks[3], bytes, 100) == GEMTC_OK);
  CHECK(gemtc_copy_to_device(device, (char*)blocks[3] + 60, bytes, 40) == GEMTC_OK);
  CHECK(gemtc_copy_to_device(device, (char*)blocks[3] + 60, bytes, 41) == GEMTC_OUTSIDE);
  CHECK(gemtc_copy_to_device(device, (char*)blocks[3] + 60, bytes, SIZE_MAX) == GEMTC_OUTSIDE);
  CHECK(gemtc_copy_to_device(device, bytes, bytes, 1) == GEMTC_OUTSIDE);
  CHECK(gemtc_copy_from_device(device, bytes, blocks[3], 101) == GEMTC_OUTSIDE);
  CHECK(gemtc_copy_from_device(device, bytes, (char*)blocks[3] - 1, 1) != GEMTC_OK);
  CHECK(gemtc_copy_from_device(device, NULL, blocks[3], 1) == GEMTC_INVALID);
  CHECK(gemtc_copy_from_device(device, NULL, NULL, 0) == GEMTC_OK);
  for (int i = 0; i < 16; i += 2) CHECK(gemtc_free(device, blocks[i]) == GEMTC_OK);
  CHECK(gemtc_malloc(device, 257, &more) == GEMTC_NO_MEMORY);
  for (int i = 1; i < 16; i += 2) CHECK(gemtc_free(device, blocks[i]) == GEMTC_OK);
  CHECK(gemtc_free(device, device_memory(device, 4096)) == GEMTC_OK);
  CHECK(gemtc_cleanup(device) == GEMTC_OK);
}

static void wrong_arguments_are_refused(void) {
  const gemtc_kernel none[2] = {add, NULL};
  const gemtc_options good = {kernels, kernel_number, 0, 0, 0, NULL, GEMTC_ANYWHERE};
  gemtc_options bad[5] = {good, good, good, good, good}, no_code = good, no_place = good;
  bad[0].kernels = NULL, bad[1].kernel_count = 0, bad[2].kernels = none, bad[2].kernel_count = 2;
  bad[3].workers = 1025, bad[4].memory_bytes = SIZE_MAX;
  no_code.place = GEMTC_GPU, no_place.place = (gemtc_place)3;
  gemtc* device = NULL;
  for (int i = 0; i < 5; ++i) CHECK(gemtc_setup(&bad[i], &device) == GEMTC_INVALID && device == NULL);
  CHECK(gemtc_setup(&no_code, &device) == GEMTC_NO_CODE && gemtc_setup(&no_place, &device) == GEMTC_NO_PLACE);
  CHECK(device == NULL && strcmp(gemtc_text(GEMTC_NO_CODE), gemtc_text(GEMTC_INVALID)) != 0);
  CHECK(gemtc_setup(NULL, &device) == GEMTC_INVALID && gemtc_setup(&good, NULL) == GEMTC_INVALID);
  gemtc_result result;
  int word = 0;
  void* address;
  CHECK(gemtc_malloc(NULL, 1, &address) == GEMTC_INVALID && gemtc_free(NULL, &word) == GEMTC_INVALID);
  CHECK(gemtc_copy_to_device(NULL, &word, &word, 1) == GEMTC_INVALID);
  CHECK(gemtc_copy_from_device(NULL, &word, &word, 1) == GEMTC_INVALID);
  CHECK(gemtc_push(NULL, 0, 1, 0, NULL) == GEMTC_INVALID && gemtc_poll(NULL, 0, &result) == GEMTC_INVALID);
  CHECK(gemtc_cleanup(NULL) == GEMTC_OK);
  device = set_up(0, 0, 0);
  CHECK(gemtc_poll(device, 0, NULL) == GEMTC_INVALID && gemtc_malloc(device, 1, NULL) == GEMTC_INVALID);
  CHECK(gemtc_push(device, kernel_number, 1, 0, NULL) == GEMTC_INVALID);
  CHECK(gemtc_push(device, kernel_nothing, 0, 0, NULL) == GEMTC_INVALID);
  CHECK(gemtc_push(device, kernel_nothing, INT64_MAX, 0, NULL) == GEMTC_INVALID);
  CHECK(gemtc_push(device, kernel_nothing, 1, 0, &word) == GEMTC_OUTSIDE);
  CHECK(gemtc_poll(device, 1000000, &result) == GEMTC_NOTHING);
  for (int code = -1; code < 12; ++code) CHECK(strlen(gemtc_text((gemtc_code)code)) > 10);
  CHECK(gemtc_cleanup(device) == GEMTC_OK);
}

static void what_was_pushed_is_done_before_the_end(void) {
  const int rounds = number_of(30);
  for (int round = 0; round < rounds; ++round) {
    gemtc* const device = set_up(3, 0, 0);
    for (uint64_t id = 0; id < 200; ++id) CHECK(gemtc_push(device, kernel_nothing, 50, id, NULL) == GEMTC_OK);
    gemtc_result result;
    if (round % 2 == 0) CHECK(gemtc_poll(device, -1, &result) == GEMTC_OK);
    CHECK(gemtc_cleanup(device) == GEMTC_OK);
  }
}

enum { most_of_each = 5000, host_threads = 4 };
struct host_thread {
  gemtc* device;
  int64_t polled;
};

/* Pushes so many tasks, and polls as many, whoever has pushed them. */
static void* push_and_poll(void* argument) {
  struct host_thread* const self = argument;
  for (int i = 0; i < number_of(most_of_each); ++i) {
    gemtc_result result;
    while (gemtc_push(self->device, kernel_nothing, 1 + i % 3, 1, NULL) == GEMTC_FULL)
      if (gemtc_poll(self->device, 0, &result) == GEMTC_OK) self->polled += (int64_t)result.id;
    if (gemtc_poll(self->device, 0, &result) == GEMTC_OK) self->polled += (int64_t)result.id;
    void* block;
    if (i % 7 == 0 && gemtc_malloc(self->device, (size_t)(i + 1), &block) == GEMTC_OK)
      CHECK(gemtc_free(self->device, block) == GEMTC_OK);
  }
  return NULL;
}

static void threads_share_a_device(void) {
  gemtc* const device = set_up(2, 50, 1 << 20);
  pthread_t threads[host_threads];
  struct host_thread each[host_threads];
  int64_t polled = 0;
  for (int i = 0; i < host_threads; ++i) {
    each[i] = (struct host_thread){device, 0};
    CHECK(pthread_create(&threads[i], NULL, push_and_poll, &each[i]) == 0);
  }
  for (int i = 0; i < host_threads; ++i) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    polled += each[i].polled;
  }
  gemtc_result result;
  while (gemtc_poll(device, -1, &result) == GEMTC_OK) ++polled;
  CHECK(polled == (int64_t)host_threads * number_of(most_of_each));
  CHECK(gemtc_cleanup(device) == GEMTC_OK);
}

/* Without a driver, or with code that no GPU takes, threads of the host do it, unless it is to be a GPU. */
static void a_gpu_is_not_there(const char* given) {
  gemtc_options options = {kernels, kernel_number, 2, 0, 0, given, GEMTC_GPU};
  gemtc* device = NULL;
  CHECK(gemtc_setup(&options, &device) == GEMTC_NO_GPU && device == NULL);
  options.place = GEMTC_ANYWHERE;
  CHECK(gemtc_setup(&options, &device) == GEMTC_OK);
  int64_t counts[64] = {0};
  CHECK(gemtc_push(device, kernel_count, 64, 1, copied(device, counts, sizeof counts)) == GEMTC_OK);
  CHECK(next_result(device).status == 0);
  CHECK(gemtc_cleanup(device) == GEMTC_OK);
}

static void a_gpu_fails(void) {
  gemtc* const device = set_up(0, 100, 0);
  for (uint64_t id = 0; id < 100; ++id) CHECK(gemtc_push(device, kernel_nothing, 50, id, NULL) == GEMTC_OK);
  CHECK(gemtc_push(device, kernel_nothing, 50, 100, NULL) == GEMTC_FULL);
  for (int i = 0; i < 100; ++i) {
    const gemtc_result result = next_result(device);
    CHECK(result.status == GEMTC_LOST && result.failed_thread == -1);
  }
  CHECK(gemtc_push(device, kernel_nothing, 50, 7, NULL) == GEMTC_OK);
  CHECK(next_result(device).status == GEMTC_LOST);
  CHECK(gemtc_cleanup(device) == GEMTC_OK);
}

static void print_rate(void) {
  enum { tasks = 1000000 };
  gemtc* const device = set_up(0, 10000, 0);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  gemtc_result result;
  for (uint64_t id = 0; id < tasks; ++id)
    while (gemtc_push(device, kernel_nothing, 1, id, NULL) == GEMTC_FULL)
      CHECK(gemtc_poll(device, -1, &result) == GEMTC_OK);
  while (gemtc_poll(device, -1, &result) == GEMTC_OK) continue;
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
  printf("%.0f tasks/s\n", tasks / seconds);
  CHECK(gemtc_cleanup(device) == GEMTC_OK);
}

int main(int argument_count, char** arguments) {
  const char* const how = argument_count > 1 ? arguments[1] : "";
  code = argument_count > 2 ? text_of(arguments[2]) : raddle_gemtc_test_code();
  if (argument_count > 2 || strcmp(how, "--lost") == 0) place = GEMTC_GPU;
  if (strcmp(how, "--rate") == 0) return print_rate(), 0;
  if (strcmp(how, "--lost") == 0) return a_gpu_fails(), 0;
  a_gpu_is_not_there(place == GEMTC_GPU ? "no PTX" : code);
  wrong_arguments_are_refused();
  memory_has_limits();
  for (uint32_t workers = 1; workers <= 8; workers *= 2) {
    tasks_compute(workers);
    failures_are_told(workers);
  }
  each_task_is_told_once(1, 1);
  each_task_is_told_once(2, 64);
  each_task_is_told_once(8, 3000);
  what_was_pushed_is_done_before_the_end();
  threads_share_a_device();
  return 0;
}
