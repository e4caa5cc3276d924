#pragma once
// Points in the blocks of the record, looked for many at a time.
//
// A block has the keys of its points in the order in which they were run, and nothing else leads to them: an index of
// single points would be larger than the results. So the points that are looked for are put into a hash table, and the
// blocks' keys are read past it: first those of blocks whose numbers are near, which is where they are when the same
// sweep is resumed; the search ends when all are found.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vm/record/run_record.hpp"

namespace raddle::sweep {

/// What blocks have of some points: each result in the order of the points.
struct BlockValues {
  std::vector<bool> is_found;
  std::vector<std::vector<std::int64_t>> columns;  ///< words as in vm::BlockRow
  std::vector<float> durations_s;                  ///< the mean of the block
};

class EarlierBlocks {
 public:
  /// What the record has at this moment. @param own_run  its blocks go before others; "": none
  /// @param since  nothing of runs that began before this one; "": of any
  EarlierBlocks(vm::RunRecord& record, std::uint64_t work, const std::string& own_run, const std::string& since)
      : record_(record), heads_(record.blocks(work, own_run, since)) {}
  bool is_empty() const { return heads_.empty(); }
  /// @param only_near  does not look into blocks of other numbers
  std::vector<bool> contain(std::span<const std::uint64_t> numbers, std::span<const std::uint64_t> keys,
                            bool only_near = false);
  BlockValues find(std::span<const std::uint64_t> numbers, std::span<const std::uint64_t> keys);

 private:
  struct Match {
    std::uint32_t wanted, found;  // positions among the points, and in the block
  };
  template <typename Take>
  std::vector<bool> search(std::span<const std::uint64_t> numbers, std::span<const std::uint64_t> keys,
                           const Take& take, bool only_near = false);
  vm::RunRecord& record_;
  std::vector<vm::BlockHead> heads_;
};

}  // namespace raddle::sweep
