#pragma once
// Which points are being run right now, told to the other runs of this folder. A claim is a lock of the system's on
// bytes of a file, so that it is gone with the process, however that ends.
#include <cstdint>
#include <memory>

#include "vm/record/point_key.hpp"
#include "vm/value/file_descriptor.hpp"

namespace raddle::vm {

/// Whoever has it runs the point, until the last copy is gone; null: another run has it. Any thread.
using PointClaim = std::shared_ptr<const void>;

/// Of one run; any thread. Where the file can not be locked nothing keeps runs apart.
class PointClaims {
 public:
  PointClaims();
  PointClaims(const PointClaims&) = delete;
  PointClaims& operator=(const PointClaims&) = delete;
  /// Of one point.
  PointClaim claim(const PointKey& key) const;
  /// Of points from `first` to `last`. @param space  names what is numbered so
  PointClaim claim(std::uint64_t space, std::uint64_t first, std::uint64_t last) const;
  /// Whether another run was going on when this one began, or has begun since, so that it may have done what was not
  /// done when the record was looked at.
  bool has_others() const;

 private:
  PointClaim lock(std::uint64_t begin, std::uint64_t length) const;
  std::shared_ptr<const FileDescriptor> file_;
  std::uint64_t begun_ = 0;  ///< the size of the file: as many runs as have begun
  bool had_others_ = false;
};

}  // namespace raddle::vm
