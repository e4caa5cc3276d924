#include "vm/value/value.hpp"

#include <vector>

namespace raddle::vm {

// A destructor that releases further objects would recurse as deep as the data nests: objects that die while another
// one is being destroyed wait in a list of this thread instead.
void HeapObject::destroy(const HeapObject* object) {
  thread_local std::vector<const HeapObject*> waiting;
  thread_local bool destroying = false;
  if (destroying) {
    waiting.push_back(object);
    return;
  }
  destroying = true;
  delete object;
  while (!waiting.empty()) {
    const HeapObject* next = waiting.back();
    waiting.pop_back();
    delete next;
  }
  destroying = false;
}

}  // namespace raddle::vm
