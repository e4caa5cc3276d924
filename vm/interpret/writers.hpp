#pragma once
// Writers of arrays and bags, as running code takes them over and gives them back.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vm/interpret/frame.hpp"
#include "vm/program/program.hpp"
#include "vm/value/future.hpp"

namespace raddle::vm {

class RunWorker;

/// Of one worker; only its thread calls these. What has failed has no writers any more: it is left alone.
class Writers {
 public:
  explicit Writers(RunWorker& here) : here_(here) {}

  /// @param array  an array or a bag that is there
  void add(Future& array, std::uint32_t count);
  /// One of each.
  void add(Frame& frame, const std::vector<Operand>& arrays);
  void add(Frame& frame, const std::vector<WriterShare>& shares);
  /// The last writer closes it.
  void release(Frame& frame, Operand array);
  /// One of each.
  void release(Frame& frame, const std::vector<Operand>& arrays);
  /// Releases a writer that did not write: the array or bag closes with the failure.
  void fail(Frame& frame, Operand array, const Value& failure);
  void fail(Frame& frame, const std::vector<Operand>& arrays, const Value& failure);

  /// The writers of `count` iterations, which run here until close(). Those that they release meanwhile are given back
  /// together: their piece holds a writer of its own until then, so that the array could not close before.
  /// @return what close() is to be given
  std::size_t open(Frame& frame, const std::vector<WriterShare>& shares, std::int64_t count);
  void close(std::size_t outer);

 private:
  void release(Future& array, std::uint32_t count);
  struct Released {
    Future* array;
    std::uint32_t count;
  };

  RunWorker& here_;
  std::vector<Released> released_;  ///< by the iterations on the C stack
  std::size_t own_ = 0;             ///< where those of the innermost ones begin
};

}  // namespace raddle::vm
