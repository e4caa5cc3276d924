#pragma once
#include "gpu/cuda/driver.hpp"
#include "gpu/memory/copy_engine.hpp"
#include "gpu/memory/transfer_times.hpp"

namespace raddle::gpu {

/// Copies of one stream. @pre its context is that of this thread
class StreamCopies final : public CopyEngine {
 public:
  StreamCopies(const CudaDriver& driver, void* stream) : driver_(driver), stream_(stream) {}
  int allocate(std::uint64_t& address, std::size_t bytes) override {
    if (const int error = driver_.allocate(&address, bytes, stream_)) return error;
    return wait();
  }
  int free(std::uint64_t address) override { return driver_.free(address, stream_); }
  int copy_in(std::uint64_t to, const void* from, std::size_t bytes) override {
    times_.begin(vm::DeviceLane::from_host, bytes);
    return driver_.copy_in(to, from, bytes, stream_);
  }
  int copy_out(void* to, std::uint64_t from, std::size_t bytes) override {
    times_.begin(vm::DeviceLane::to_host, bytes);
    return driver_.copy_out(to, from, bytes, stream_);
  }
  int copy_within(std::uint64_t to, std::uint64_t from, std::size_t bytes) override {
    return driver_.copy_within(to, from, bytes, stream_);
  }
  int wait() override {
    const int error = driver_.wait_for_stream(stream_);
    times_.end();
    return error;
  }
  std::vector<vm::DeviceTransfer> take_transfers() override { return times_.take(); }

 private:
  const CudaDriver& driver_;
  void* const stream_;
  TransferTimes times_;
};

}  // namespace raddle::gpu
