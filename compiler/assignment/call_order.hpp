#pragma once
// Calls of one function that write files of one path: whether the data tell that they follow each other.
#include <map>
#include <set>
#include <vector>

#include "compiler/assignment/file_order.hpp"

namespace raddle::check_detail {

class CallOrders {
 public:
  CallOrders(const Context& context, const CollectedUse& use, FileOrders& orders);

  /// What is awaited before the outputs of a call have values.
  std::vector<Awaited> needs_of(const ast::Call& call);
  /// Whether calls of a function follow each other: each begins to write files when what the ones before it write is
  /// written and read.
  struct Order {
    /// In one call of the function that many levels up, and in one iteration of each `foreach` between, which the run
    /// tells apart. 0: they need not follow each other.
    std::uint32_t levels = 0;
    const BodyCall* unsure = nullptr;  ///< one that depends on an earlier one, but may begin before that has ended
  };
  Order order_of(const ast::FunctionDefinition* function);

 private:
  using Inputs = std::set<std::size_t>;
  using Outputs = std::set<std::size_t>;
  /// What is so of each call of a function.
  struct Summary {
    Inputs needs;   ///< that are awaited before an output has a value
    Inputs starts;  ///< that are awaited before it writes a file
    bool may_be_done = false;
  };
  /// What writes files that are named in a function.
  struct Sites {
    std::vector<VariableId> files;
    std::vector<const BodyCall*> calls;
    std::size_t count() const { return files.size() + calls.size(); }
  };

  void find_sites(const CollectedUse& use);
  const Summary& summary_of(std::uint32_t function);
  Summary summarise(const CheckedFunction& function);
  /// When these outputs have values, all files are written, and read by all that read them.
  bool is_done(std::uint32_t function, const Outputs& outputs);
  bool find_whether_done(const CheckedFunction& function, const Outputs& outputs);
  bool is_done(const FileOrders::Past& past, const BodyCall& call);
  class SourceSearch;
  bool may_be_done(const CheckedFunction& function, const Sites& sites);
  bool may_be_done(const BodyCall& call) { return summary_of(call.call->callee_index).may_be_done; }
  Inputs inputs_in(const CheckedFunction& function, const FileOrders::Past& past) const;
  std::vector<Awaited> awaited_by(const ast::Call& call, const Inputs& inputs, bool is_read) const;
  FileOrders::Past past_of_start(const BodyCall& call, FileOrders::Scope scope);
  bool precedes(const BodyCall& earlier, const BodyCall& later, FileOrders::Scope scope);
  bool may_depend(const BodyCall& later, const BodyCall& earlier) const;
  bool are_surely_ordered(const BodyCall& one, const BodyCall& other);
  bool follows_itself(const BodyCall& call, const std::vector<const BodyCall*>& others);
  FileOrder order_of(const std::vector<const BodyCall*>& calls, const BodyCall*& unsure);

  const Context& context_;
  const std::vector<VariableUse>& all_;
  FileOrders& orders_;
  std::map<const ast::FunctionDefinition*, Sites> sites_;                         ///< by the function that they are in
  std::map<const ast::FunctionDefinition*, std::vector<const BodyCall*>> calls_;  ///< by the function that is called
  std::map<std::uint32_t, Summary> summaries_;
  std::map<std::pair<std::uint32_t, Outputs>, bool> done_;
  std::map<const ast::FunctionDefinition*, Order> found_;
};

}  // namespace raddle::check_detail
