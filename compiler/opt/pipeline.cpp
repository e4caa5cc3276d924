#include "compiler/opt/pipeline.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "compiler/ir/print.hpp"
#include "compiler/ir/verify.hpp"
#include "compiler/opt/bodies/common_subexpressions.hpp"
#include "compiler/opt/bodies/dead_code.hpp"
#include "compiler/opt/fusion/drop_temporaries.hpp"
#include "compiler/opt/bodies/explicit_streams.hpp"
#include "compiler/opt/launches/distribute_loops.hpp"
#include "compiler/opt/launches/filled_arrays.hpp"
#include "compiler/opt/bodies/fold_constants.hpp"
#include "compiler/opt/fusion/fuse_loops.hpp"
#include "compiler/opt/fusion/fuse_siblings.hpp"
#include "compiler/opt/bodies/fuse_multiply_add.hpp"
#include "compiler/opt/launches/gather_calls.hpp"
#include "compiler/opt/bodies/hoist_keys.hpp"
#include "compiler/opt/launches/index_launches.hpp"
#include "compiler/opt/leaves/infer_leaves.hpp"
#include "compiler/opt/bodies/inline_calls.hpp"
#include "compiler/opt/fusion/interchange_loops.hpp"
#include "compiler/opt/fusion/join_products.hpp"
#include "compiler/opt/bodies/key_memo_calls.hpp"
#include "compiler/opt/bodies/known_counts.hpp"
#include "compiler/opt/bodies/known_shapes.hpp"
#include "compiler/opt/launches/loop_kernels.hpp"
#include "compiler/opt/bodies/merge_branch_writes.hpp"
#include "compiler/opt/bodies/order_operations.hpp"
#include "compiler/opt/bodies/peel_borders.hpp"
#include "compiler/opt/launches/outline_loops.hpp"
#include "compiler/opt/bodies/prove_indices.hpp"
#include "compiler/opt/launches/reduced_arrays.hpp"
#include "compiler/opt/bodies/small_arrays.hpp"
#include "vm/value/standard_error.hpp"

namespace raddle::opt {

namespace {

struct Pass {
  std::string_view name;
  void (*run)(ir::Module&, Diagnostics&);
  int level;
};

template <void (*pass)(ir::Module&)>
void without_findings(ir::Module& module, Diagnostics&) {
  pass(module);
}

constexpr Pass pipeline[] = {
    {"fuse-multiply-add", without_findings<fuse_multiply_add>, 0},      // first and always: results do not depend on -O
    {"key-memo-calls", key_memo_calls, 0},                              // what is kept does not depend on -O either
    {"merge-branch-writes", without_findings<merge_branch_writes>, 0},  // nor do places of errors
    {"explicit-streams", without_findings<make_streams_explicit>, 1},   // what kernels may compute draws no more
    {"known-shapes", without_findings<use_known_shapes>, 2},      // before inlining: it looks for loops side by side
    {"inline-calls", without_findings<inline_calls>, 2},          // what follows works on the bodies
    {"small-arrays", without_findings<replace_small_arrays>, 2},  // before folding: much becomes constant
    {"peel-borders", without_findings<peel_borders>, 2},          // before folding and proving: what is left is simpler
    {"fold-constants", without_findings<fold_constants>, 1},
    {"common-subexpressions", without_findings<share_common_subexpressions>, 2},  // after folding: equal constants
    {"prove-indices", without_findings<prove_indices>, 1},  // after sharing: equal extents are one variable
    {"forward-elements", without_findings<forward_written_elements>, 2},  // after proving: equal keys are one variable
    {"known-counts", without_findings<use_known_counts>, 2},              // after proving: more counts are known
    {"hoist-keys", without_findings<hoist_keys>, 1},              // after proving: what can not fail may leave a loop
    {"dead-code", without_findings<remove_dead_code>, 1},         // after those that leave dead operations
    {"order-operations", without_findings<order_operations>, 0},  // for infer-leaves and code generation
    {"infer-leaves", infer_leaves, 0},                            // needs the final bodies, ordered
    {"launch-reduced-loops", without_findings<launch_reduced_loops>, 0},  // leaves that reduce have no kernel otherwise
    {"fuse-loops", without_findings<fuse_loops>, 2},
    {"drop-temporaries", without_findings<drop_temporaries>, 2},    // after fusion: values are passed on
    {"interchange-loops", without_findings<interchange_loops>, 2},  // after fusion: few loops are in bodies
    {"join-products", without_findings<join_products>, 2},          // after fusion: one loop is between them
    {"fuse-siblings", without_findings<fuse_siblings>, 2},          // after join-products: one loop, as it is
    {"distribute-loops", without_findings<distribute_loops>, 2},    // after fusion: what can be one loop is one
    {"index-launches", without_findings<find_index_launches>, 1},
    {"loop-kernels", without_findings<find_loop_kernels>, 1},  // before loops in their bodies are outlined
    {"outline-loops", without_findings<outline_loops>,
     1},  // after launches: those of their points are in leaves already
    {"reduced-arrays", without_findings<find_reduced_arrays>, 1},
    {"filled-arrays", without_findings<find_filled_arrays>, 1},
    {"gather-calls", without_findings<gather_calls>, 1},  // last: it undoes the order of the text
};

constexpr auto names = [] {
  std::array<std::string_view, std::size(pipeline)> all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = pipeline[i].name;
  return all;
}();

void verify_or_throw(const ir::Module& module, std::string_view pass) {
  for (const std::string& problem : ir::verify(module))
    throw std::logic_error(fmt::format("after {}: {}", pass, problem));
}

}  // namespace

std::span<const std::string_view> pass_names() { return names; }

std::span<const std::string_view> passes_without(std::string_view fusion) {
  // of arrays that nothing reads reduced-arrays would keep no elements
  static constexpr std::string_view off[] = {"drop-temporaries",  "fuse-loops",    "fuse-siblings",
                                             "interchange-loops", "join-products", "reduced-arrays"};
  static constexpr std::string_view tasks[] = {"drop-temporaries", "interchange-loops", "join-products",
                                               "reduced-arrays"};
  if (fusion == "off") return off;
  if (fusion == "tasks") return tasks;
  return {};
}

void optimise(ir::Module& module, const Options& options, Diagnostics& diagnostics) {
  if (options.verify_each) verify_or_throw(module, "lowering");
  for (const Pass& pass : pipeline) {
    if (pass.level > options.level || options.disabled.contains(std::string(pass.name))) continue;
    pass.run(module, diagnostics);
    if (options.verify_each) verify_or_throw(module, pass.name);
    if (options.print_after == pass.name) vm::print_stderr("{}", ir::print(module));
  }
}

}  // namespace raddle::opt
