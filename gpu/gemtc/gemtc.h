/* Many tasks from a C program on a device: the calls of GeMTC (Krieder et al., HPDC'14), over the queues of
 * gpu/superkernel. The device is a GPU of NVIDIA, if the program has code for GPUs (gemtc_gpu.h) and there is one, or
 * one of host threads. Which GPU, where there are several: the driver's first one, which CUDA_VISIBLE_DEVICES chooses.
 *
 * A program puts what tasks read into the device's memory, pushes tasks, and polls for those that have ended. A task
 * has threads, which a kernel computes: 32 of them are a warp, more are shared by several warps.
 *
 * Every function but gemtc_text() returns GEMTC_OK or what was wrong, and then has done nothing. None ends the
 * process. All may be called by any thread, at any time, but gemtc_cleanup(), which is the last one of its device.
 * Kernels may call none of them.
 */
#ifndef RADDLE_GEMTC_H
#define RADDLE_GEMTC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) || !defined(__GNUC__)
#define GEMTC_API
#else
#define GEMTC_API __attribute__((visibility("default")))
#endif

typedef enum gemtc_code {
  GEMTC_OK = 0,
  GEMTC_NOTHING = 1,    /* no task has ended: within the time given, or none was pushed that was not polled */
  GEMTC_FULL = 2,       /* as many tasks as the device takes are pushed and not polled: poll some */
  GEMTC_NO_MEMORY = 3,  /* the device has no room for so many bytes in one piece, or the host has none */
  GEMTC_INVALID = 4,    /* an argument is none that the function takes */
  GEMTC_OUTSIDE = 5,    /* bytes of the device that do not lie in one block of gemtc_malloc() */
  GEMTC_NO_THREADS = 6, /* the system has no threads for the device; tasks that were pushed have failed with it */
  GEMTC_LOST = 7,       /* the GPU has failed, and does nothing more; tasks that were pushed have failed with it */
  GEMTC_NO_GPU = 8,     /* no driver, no GPU, or none that takes the code and has room */
  GEMTC_NO_PLACE = 9,   /* the place is none of gemtc_place */
  GEMTC_NO_CODE = 10    /* the place is GEMTC_GPU, and there is no code for GPUs */
} gemtc_code;

/* A device. */
typedef struct gemtc gemtc;

/* What one thread of a task does. Threads run in no order, some at once, on threads of the device. It does not throw.
 * @param parameters  as they were pushed, in the device's memory
 * @param thread      0 to threads - 1
 * @return            0; else the task has failed, and its threads that were not begun may be left out */
typedef int32_t (*gemtc_kernel)(void* parameters, int64_t thread, int64_t threads);

/* Where a device is to be. */
typedef enum gemtc_place {
  GEMTC_ANYWHERE = 0, /* a GPU, if there is code for it and one that takes it, else threads of the host */
  GEMTC_THREADS = 1,
  GEMTC_GPU = 2
} gemtc_place;

typedef struct gemtc_options {
  const gemtc_kernel* kernels; /* a task says by number which one it is for; copied */
  uint32_t kernel_count;       /* 1 or more, none of them null */
  uint32_t workers;            /* warps that compute, 1 to 1024; 0: as many as the machine has processors, up to 64;
                                * on a GPU 16 of each multiprocessor, and always whole blocks of 8 */
  uint32_t task_limit;         /* tasks that are pushed and not polled, at most; 0: 65,536 */
  size_t memory_bytes;         /* of the device, of which a block takes a multiple of 256; 0: 64 MiB */
  const char* gpu_code;        /* PTX of the same kernels in the same order, as gemtc_gpu.h makes it; null: none. Only
                                * gemtc_setup() reads it */
  gemtc_place place;
} gemtc_options;

/* How a task has ended. */
typedef struct gemtc_result {
  uint64_t id;           /* as it was pushed */
  void* parameters;      /* likewise */
  int32_t status;        /* 0: well; else what the kernel has returned for the thread below */
  int64_t failed_thread; /* the least one for which the kernel did not return 0; -1: none, or the device has failed,
                            and `status` is GEMTC_NO_THREADS or GEMTC_LOST */
} gemtc_result;

/* Makes a device. Its threads start with the first task, and sleep when there is nothing to do.
 * @param device  gets it
 * @return        GEMTC_OK, GEMTC_INVALID, GEMTC_NO_PLACE, GEMTC_NO_MEMORY; GEMTC_NO_CODE, GEMTC_NO_GPU: only if the
 * place is GEMTC_GPU */
GEMTC_API gemtc_code gemtc_setup(const gemtc_options* options, gemtc** device);

/* Waits for all tasks that were pushed, and frees the device with all of its memory. What was not polled is dropped.
 * @param device  null: nothing is done
 * @return        GEMTC_OK */
GEMTC_API gemtc_code gemtc_cleanup(gemtc* device);

/* @param address  gets a multiple of 256, which only the device's kernels and the copies below may use
 * @param bytes    1 or more
 * @return         GEMTC_OK, GEMTC_INVALID, GEMTC_NO_MEMORY */
GEMTC_API gemtc_code gemtc_malloc(gemtc* device, size_t bytes, void** address);

/* @param address  of gemtc_malloc(), and of no task that was pushed and has not ended; null: nothing is done
 * @return         GEMTC_OK, GEMTC_INVALID; GEMTC_OUTSIDE: it is no block's first byte, or was freed */
GEMTC_API gemtc_code gemtc_free(gemtc* device, void* address);

/* Copies before it returns. No task that uses the bytes may have been pushed that has not ended.
 * @param to     in the device's memory
 * @param from   in the host's
 * @param bytes  0: nothing is done
 * @return       GEMTC_OK, GEMTC_INVALID, GEMTC_OUTSIDE, GEMTC_LOST */
GEMTC_API gemtc_code gemtc_copy_to_device(gemtc* device, void* to, const void* from, size_t bytes);

/* The same the other way. What a task has written is there when it was polled. */
GEMTC_API gemtc_code gemtc_copy_from_device(gemtc* device, void* to, const void* from, size_t bytes);

/* Gives the device a task. Does not wait.
 * @param kernel      number in gemtc_options.kernels
 * @param threads     1 to 2^40, on a GPU to 2^32
 * @param id          what the program knows it by; need not differ from others
 * @param parameters  null, or an address in a block of gemtc_malloc()
 * @return            GEMTC_OK, GEMTC_INVALID, GEMTC_OUTSIDE, GEMTC_FULL, GEMTC_NO_MEMORY */
GEMTC_API gemtc_code gemtc_push(gemtc* device, uint32_t kernel, int64_t threads, uint64_t id, void* parameters);

/* Takes a task that has ended. Each is told once.
 * @param wait_ns  how long to wait for one if there is none; 0: not; below 0: as long as any is under way
 * @param result   gets it
 * @return         GEMTC_OK, GEMTC_INVALID, GEMTC_NOTHING */
GEMTC_API gemtc_code gemtc_poll(gemtc* device, int64_t wait_ns, gemtc_result* result);

/* What a code means, in words. */
GEMTC_API const char* gemtc_text(gemtc_code code);

#ifdef __cplusplus
}
#endif

#endif
