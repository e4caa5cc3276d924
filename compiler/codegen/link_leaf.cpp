// Note [linking]. JITLink, the linker of LLVM's JITs, lays the sections out, makes the tables through which functions
// outside are called, and fills in all distances. It is told to link for addresses at `base`; what depends on them is
// the pointers, and those are written down in the image in place of being filled in. Functions outside get addresses
// that no direct call reaches, so that all references to them are pointers, too.
#include "compiler/codegen/link_leaf.hpp"

#include <llvm/ExecutionEngine/JITLink/ELF_x86_64.h>
#include <llvm/ExecutionEngine/JITLink/x86_64.h>

namespace raddle::codegen {
namespace {

LLVM_ENABLE_BITMASK_ENUMS_IN_NAMESPACE();
namespace jitlink = llvm::jitlink;
using llvm::orc::ExecutorAddr;

constexpr std::uint64_t base = std::uint64_t{1} << 32;
constexpr std::uint64_t outside = std::uint64_t{1} << 46;

struct Linked {
  LeafImage image;
  std::string fault;
};

/// Nothing is run here: the image's content is the memory.
class ImageMemory final : public jitlink::JITLinkMemoryManager {
 public:
  explicit ImageMemory(LeafImage& image) : image_(image) {}

  void allocate(const jitlink::JITLinkDylib*, jitlink::LinkGraph& graph, OnAllocatedFunction done) override {
    jitlink::BasicLayout layout(graph);
    std::uint64_t size = place(layout, /*is_code=*/true, 0);
    image_.data_begin = llvm::alignTo(size, LeafImage::page_bytes);
    size = place(layout, /*is_code=*/false, image_.data_begin);
    image_.content.resize(size);
    for (auto& [group, segment] : layout.segments())
      segment.WorkingMem = image_.content.data() + (segment.Addr - ExecutorAddr(base));
    if (llvm::Error error = layout.apply()) return done(std::move(error));
    done(std::make_unique<Allocation>());
  }
  void deallocate(std::vector<FinalizedAlloc> allocations, OnDeallocatedFunction done) override {
    for (FinalizedAlloc& allocation : allocations) allocation.release();
    done(llvm::Error::success());
  }

 private:
  struct Allocation final : InFlightAlloc {
    void abandon(OnAbandonedFunction done) override { done(llvm::Error::success()); }
    void finalize(OnFinalizedFunction done) override { done(FinalizedAlloc(ExecutorAddr(base))); }
  };

  /// @return the end of what was placed from `begin` on
  static std::uint64_t place(jitlink::BasicLayout& layout, bool is_code, std::uint64_t begin) {
    for (auto& [group, segment] : layout.segments()) {
      const llvm::orc::MemProt protection = group.getMemProt();
      if (((protection & llvm::orc::MemProt::Exec) == llvm::orc::MemProt::Exec) != is_code) continue;
      begin = llvm::alignTo(begin, segment.Alignment);
      segment.Addr = ExecutorAddr(base + begin);
      begin += segment.ContentSize + segment.ZeroFillSize;
    }
    return begin;
  }

  LeafImage& image_;
};

class LinkContext final : public jitlink::JITLinkContext {
 public:
  LinkContext(Linked& result, std::string_view entry)
      : JITLinkContext(nullptr), result_(result), memory_(result.image), entry_(entry) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return memory_; }
  void notifyFailed(llvm::Error error) override { result_.fault = llvm::toString(std::move(error)); }
  void lookup(const LookupMap& symbols, std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> go_on) override {
    jitlink::AsyncLookupResult found;
    for (const auto& symbol : symbols) found[symbol.first] = {ExecutorAddr(outside), llvm::JITSymbolFlags::Exported};
    go_on->run(std::move(found));
  }
  llvm::Error notifyResolved(jitlink::LinkGraph& graph) override {
    for (const jitlink::Symbol* symbol : graph.defined_symbols()) {
      if (!symbol->hasName() || symbol->getName() != entry_) continue;
      result_.image.entry = offset(symbol->getAddress());
      return llvm::Error::success();
    }
    return llvm::createStringError("the code has no function " + entry_);
  }
  void notifyFinalized(jitlink::JITLinkMemoryManager::FinalizedAlloc allocation) override { allocation.release(); }
  llvm::Error modifyPassConfig(jitlink::LinkGraph&, jitlink::PassConfiguration& passes) override {
    passes.PostFixupPasses.push_back([this](jitlink::LinkGraph& graph) { return note_pointers(graph); });
    return llvm::Error::success();
  }

 private:
  static std::uint64_t offset(ExecutorAddr address) { return address - ExecutorAddr(base); }

  llvm::Error note_pointers(jitlink::LinkGraph& graph) {
    for (jitlink::Section& section : graph.sections()) {
      if (section.getMemLifetime() == llvm::orc::MemLifetime::NoAlloc) continue;
      for (jitlink::Block* block : section.blocks())
        for (const jitlink::Edge& edge : block->edges())
          if (llvm::Error error = note_pointer(*block, edge)) return error;
    }
    return llvm::Error::success();
  }

  llvm::Error note_pointer(const jitlink::Block& block, const jitlink::Edge& edge) {
    const jitlink::Symbol& target = edge.getTarget();
    const bool is_pointer = edge.getKind() == jitlink::x86_64::Pointer64;
    if (!edge.isRelocation() || (target.isDefined() && is_distance(edge.getKind()))) return llvm::Error::success();
    const std::uint64_t at = offset(block.getFixupAddress(edge));
    if (is_pointer && target.isDefined()) {
      const auto addend = static_cast<std::uint64_t>(edge.getAddend());
      result_.image.pointers.push_back({at, offset(target.getAddress()) + addend});
      return llvm::Error::success();
    }
    if (!is_pointer || !target.isExternal() || edge.getAddend() != 0)
      return llvm::createStringError(std::string("a reference of the kind ") +
                                     jitlink::x86_64::getEdgeKindName(edge.getKind()));
    result_.image.imports.push_back({at, target.getName().str()});
    return llvm::Error::success();
  }

  /// Of kinds that stay right wherever the image lies, if both ends are in it.
  static bool is_distance(jitlink::Edge::Kind kind) {
    namespace x86_64 = jitlink::x86_64;
    return kind == x86_64::Delta64 || kind == x86_64::Delta32 || kind == x86_64::NegDelta64 ||
           kind == x86_64::NegDelta32 || kind == x86_64::PCRel32 || kind == x86_64::BranchPCRel32 ||
           kind == x86_64::BranchPCRel32ToPtrJumpStub || kind == x86_64::BranchPCRel32ToPtrJumpStubBypassable ||
           kind == x86_64::PCRel32GOTLoadRelaxable || kind == x86_64::PCRel32GOTLoadREXRelaxable;
  }

  Linked& result_;
  ImageMemory memory_;
  const std::string entry_;
};

}  // namespace

std::expected<LeafImage, std::string> link_leaf(std::string_view object, std::string_view entry) {
  auto graph = jitlink::createLinkGraphFromELFObject_x86_64(llvm::MemoryBufferRef(object, "leaf"));
  if (!graph) return std::unexpected(llvm::toString(graph.takeError()));
  Linked result;
  jitlink::link_ELF_x86_64(std::move(*graph), std::make_unique<LinkContext>(result, entry));  // runs to its end
  if (!result.fault.empty()) return std::unexpected(result.fault);
  return std::move(result.image);
}

}  // namespace raddle::codegen
