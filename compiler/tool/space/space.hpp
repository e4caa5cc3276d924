#pragma once
// The points of a sweep: what the options of the command line span. A point is made from its number when it is needed,
// so that ten million cost no more memory than ten.
//
// Groups of parameters vary independently of each other, the first one slowest: a parameter of its own, parameters
// zipped together, a table's columns, or those drawn from distributions. Repeats vary fastest.
#include <cstdint>
#include <deque>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "compiler/tool/formats/csv.hpp"
#include "compiler/tool/space/samples.hpp"
#include "compiler/tool/space/values.hpp"

namespace raddle::sweep {

/// As on the command line.
struct SpaceOptions {
  std::vector<std::string> parameters = {};  ///< -p
  std::vector<std::string> zips = {};        ///< --zip
  std::string table = "";                    ///< --from: a file's path, or ""
  std::optional<SampleMethod> method = std::nullopt;
  std::uint64_t sample_count = 0;
  std::uint64_t repeats = 0;  ///< 0: no parameters `rep` and `seed`
  std::uint64_t seed = 0;
};

/// An error in an option's word: "-p", "a=1,,2".
struct OptionError {
  std::string option, word;
  ArgumentError error;
};

struct Parameter {
  std::string name;
  ValueType type = ValueType::string;     ///< of all of its values
  ValueType read_as = ValueType::string;  ///< what the work reads them as: 0.5 and 0.50 are one float, but two strings
  CellType cell_type = CellType::string;  ///< what they are in tables that have types
};

struct Point {
  std::uint64_t number = 0;              ///< from 1
  std::vector<std::string> values = {};  ///< in the order of Space::parameters()
  std::uint64_t seed = 0;                ///< 31 bits, the same for the same values as they are read, repeat and --seed
};

/// "a = 1, b = x": for people, long values shortened.
std::string values_text(const std::vector<Parameter>& parameters, const Point& point);

class Space {
 public:
  static std::expected<Space, OptionError> make(const SpaceOptions& options);
  /// The last two are `rep` and `seed` if there are repeats.
  const std::vector<Parameter>& parameters() const { return parameters_; }
  std::uint64_t size() const { return size_; }
  /// @param types  Parameter::read_as of each
  void read_values_as(const std::vector<ValueType>& types);
  /// Parameters whose values are texts, whatever they look like.
  void keep_as_texts(const std::vector<std::string>& names);
  /// @pre 1 <= number <= size()
  Point point(std::uint64_t number) const;
  /// How many values a parameter has that is neither `rep` nor `seed`, and those as texts; with which of them a point
  /// is made. Together the same as point().
  std::uint64_t value_count(std::size_t parameter) const { return size_of(groups_[places_[parameter].group]); }
  std::string value(std::size_t parameter, std::uint64_t index) const;
  std::uint64_t value_index(std::size_t parameter, std::uint64_t number) const;
  /// Values::lost_in_floats() of such a parameter; nothing of tables and draws.
  std::optional<std::string> lost_in_floats(std::size_t parameter) const;
  /// Of each of those parameters all values; none where there are more than so many.
  std::vector<std::vector<std::string>> all_values(std::uint64_t most) const;
  /// Those of a point. @param values  takes them
  void read_values(std::uint64_t number, std::vector<std::string>& values) const;
  /// Values of a parameter, or of several that step together, that are there more than once.
  struct Repeated {
    std::vector<std::string> names, values;  ///< the first ones
    std::uint64_t count = 0;
    bool are_spelled_alike = true;  ///< not 1 and 1.0
  };
  /// A look at those of which there are so many at most. @param as_numbers  texts that look like numbers are compared
  /// as such, also if the work reads texts
  std::vector<Repeated> repeated(std::uint64_t most_values, bool as_numbers) const;
  /// There are `rep` and `seed`.
  bool has_repeats() const { return repeats_ != 0; }
  /// The values of each parameter, if each is combined with each and nothing is repeated or drawn; else none.
  std::vector<const Values*> grid() const;

 private:
  friend class SpaceBuilder;
  struct Zip {
    std::vector<Values> columns;  // of equal size
  };
  using Group = std::variant<Zip, CsvTable, Samples>;
  /// Where the values of a parameter are.
  struct Place {
    std::size_t group = 0, column = 0;
    std::uint64_t stride = 1;  // numbers between one of the group's values and the next
  };
  static std::uint64_t size_of(const Group& group);
  static void append(const Group& group, std::uint64_t index, std::vector<std::string>& values);
  void find_places();
  /// What a point's seed comes of: names, too, as a further parameter makes other points; not their order.
  std::string asked(const Point& point) const;

  std::vector<Parameter> parameters_;
  std::deque<Group> groups_;   // whose elements never move: GCC 12 warns falsely where they do
  std::vector<Place> places_;  // of the parameters but `rep` and `seed`
  std::uint64_t repeats_ = 0, seed_ = 0, size_ = 1;
};

}  // namespace raddle::sweep
