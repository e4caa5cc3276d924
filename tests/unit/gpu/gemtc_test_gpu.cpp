// The kernels of gemtc_test.c as code for GPUs, which is run where there is one.
#include "gpu/gemtc/gemtc_gpu.h"
#include "tests/unit/gpu/gemtc_test_kernels.h"

GEMTC_GPU_KERNELS(add, fail_from, nothing, count)
