// The super kernel, for NVPTX only: built by clang without any header of CUDA. What computes points is linked to it:
// raddle_dispatch.
#include "gpu/superkernel/queues.hpp"

namespace superkernel = raddle::gpu::superkernel;

/// As superkernel::work() takes it.
extern "C" uint64_t raddle_dispatch(uint64_t function, const int64_t* words, uint64_t first, uint64_t step,
                                    uint64_t end);

/// The first warp of the grid is the ingest warp.
extern "C" __attribute__((nvptx_kernel)) void raddle_super(superkernel::Queues queues) {
  const superkernel::Warp warp;
  const unsigned thread = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
  const unsigned number = thread / superkernel::lane_count;
  if (number == 0)
    superkernel::ingest(queues, warp);
  else if (number <= queues.workers)
    superkernel::work(queues, warp, raddle_dispatch);
}
