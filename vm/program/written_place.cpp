#include "vm/program/written_place.hpp"

#include <ranges>

namespace raddle::vm {

void add_written(const Program& program, Place place, std::vector<Place>& chain) {
  std::vector<Place> around;
  while (place.file >= Program::first_inlined_text) {
    const Program::InlinedText& text = program.inlined_texts[place.file - Program::first_inlined_text];
    place.file = text.file;
    around.push_back(text.call);
  }
  chain.push_back(place);
  for (const Place& call : std::views::reverse(around)) add_written(program, call, chain);
}

}  // namespace raddle::vm
