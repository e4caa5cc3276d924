#include <fmt/format.h>

#include "compiler/graph/graph.hpp"

namespace raddle::graph {
namespace {

/// Mermaid's labels are HTML with `#` in place of `&`.
std::string mermaid_string(std::string_view text) {
  std::string escaped = "\"";
  for (const char sign : text) {
    switch (sign) {
      case '"': escaped += "#quot;"; break;
      case '#': escaped += "#35;"; break;
      case '&': escaped += "#amp;"; break;
      case '<': escaped += "#lt;"; break;
      case '>': escaped += "#gt;"; break;
      case '`': escaped += "#96;"; break;  // would begin Markdown
      default: escaped += static_cast<unsigned char>(sign) < ' ' ? ' ' : sign;
    }
  }
  return escaped + "\"";
}

std::string shape_of(const Node& node) {
  const std::string label = mermaid_string(node.label);
  switch (node.kind) {
    case NodeKind::variable:
    case NodeKind::input:
    case NodeKind::output: return "([" + label + "])";
    case NodeKind::call:
    case NodeKind::library: return "[" + label + "]";
    case NodeKind::program: return "[[" + label + "]]";
    case NodeKind::decision: return "{" + label + "}";
  }
  return label;
}

class MermaidPrinter {
 public:
  explicit MermaidPrinter(const Graph& graph) : graph_(graph) {}

  std::string print() {
    text_ = "flowchart TB\n";
    print_cluster(0, 1);
    for (const Edge& edge : graph_.edges)
      line(1, fmt::format("n{} {} n{}", edge.from, edge.kind == EdgeKind::after ? "-.->" : "-->", edge.to));
    return text_;
  }

 private:
  void line(int depth, std::string_view words) {
    text_.append(static_cast<std::size_t>(2 * depth), ' ');
    (text_ += words) += "\n";
  }

  void print_cluster(ClusterId cluster, int depth) {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (graph_.nodes[i].cluster == cluster) line(depth, fmt::format("n{}{}", i, shape_of(graph_.nodes[i])));
    for (ClusterId inner = cluster + 1; inner < graph_.clusters.size(); ++inner) {
      if (graph_.clusters[inner].parent != cluster) continue;
      line(depth, fmt::format("subgraph s{}[{}]", inner, mermaid_string(graph_.clusters[inner].label)));
      print_cluster(inner, depth + 1);
      line(depth, "end");
    }
  }

  const Graph& graph_;
  std::string text_;
};

}  // namespace

std::string print_mermaid(const Graph& graph) { return MermaidPrinter(graph).print(); }

}  // namespace raddle::graph
