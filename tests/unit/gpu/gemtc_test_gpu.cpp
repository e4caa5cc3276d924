// The kernels of gemtc_test.c as code for GPUs, which are run where there is one.
#include "gpu/gemtc/gemtc_gpu.h"
#include "tests/unit/gpu/gemtc_test_kernels.h"

GEMTC_GPU_KERNELS(add, fail_from, nothing, count)

/// By this the fake driver knows the text, for which it runs functions of the test's.
extern "C" __attribute__((nvptx_kernel)) void raddle_gemtc_test() {}
