#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vm/value/file_identity.hpp"

namespace raddle::vm {

// Note [outputs aside]
//
// A program writes its outputs into a hidden folder beside their place, under their own names, and what is there when
// it has ended well is moved to its place. So a file that the script names is whole or is that of an earlier run,
// whatever other runs, of this script or another, do at the same time, and whoever is killed. What else the program has
// made beside its outputs, as tools do that make several files of one name, comes along.
//
// Why a folder, and no other name in the same one: tools look at the name, its suffix above all, and name what they
// make by it.
//
// Not moved are devices, pipes and folders, files that may not be written or that lie where nothing can be made, and
// outputs from whose names the script computes words: the program may write them by whichever name it likes.

/// The outputs of one program that it writes aside. One thread at a time.
class OwnOutputs {
 public:
  OwnOutputs() = default;
  OwnOutputs(const OwnOutputs&) = delete;
  OwnOutputs& operator=(const OwnOutputs&) = delete;
  ~OwnOutputs();
  /// @return  false: it is to be written where it is
  bool add(const std::string& path);
  /// Where the content of an output of the program is now; of other paths the path itself.
  const std::string& now(const std::string& path) const;
  /// Removes what the program has made: another attempt begins, or none.
  void clear();
  /// Removes what was not placed, for good: the program has ended, or will not begin.
  void remove();
  /// Moves all to its place, over what is there. @return  why something could not be moved; "": nothing
  std::string place();
  /// Of an output that was placed, or is written where it is.
  std::optional<FileIdentity> identity(const std::string& path) const;

 private:
  struct Folder {
    std::string place, aside;
  };
  struct Output {
    std::string aside;
    std::optional<FileIdentity> identity;  // once it was placed
  };
  std::vector<Folder> folders_;
  std::map<std::string, Output> outputs_;  // by path
  bool is_placed_ = false;
};

}  // namespace raddle::vm
