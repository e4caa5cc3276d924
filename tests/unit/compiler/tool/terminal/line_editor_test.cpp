#include "compiler/tool/terminal/line_editor.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace raddle::terminal;

namespace {

/// An editor into which bytes are typed.
struct Typing {
  History history;
  LineEditor editor;
  KeyDecoder decoder;
  EditorEvent last = EditorEvent::none;

  Typing() : editor(rules(), history) {}
  static EditorRules rules() {
    return {.is_unfinished =
                [](const std::string& text) { return std::ranges::count(text, '{') > std::ranges::count(text, '}'); },
            .complete =
                [](std::string_view text, std::size_t cursor) {
                  Completions found{text.substr(0, cursor).rfind(' ') + 1, {}};
                  for (const char* name : {"alpha", "alphabet", "beta"})
                    if (std::string_view(name).starts_with(text.substr(found.begin, cursor - found.begin)))
                      found.candidates.emplace_back(name);
                  return found;
                }};
  }
  Typing& type(std::string_view bytes) {
    for (const Key& key : decoder.feed(bytes)) last = editor.handle(key);
    return *this;
  }
  /// The text with `|` where the cursor is.
  std::string shown() const {
    std::string text = editor.text();
    return text.insert(editor.cursor(), "|");
  }
};

constexpr const char* up = "\x1b[A";
constexpr const char* down = "\x1b[B";
constexpr const char* left = "\x1b[D";

}  // namespace

TEST_CASE("moving and erasing is by characters, not by bytes") {
  Typing typing;
  CHECK(typing.type("a\xC3\xA4\xE4\xB8\xAD").type(left).shown() == "a\xC3\xA4|\xE4\xB8\xAD");
  CHECK(typing.type("\x7F").shown() == "a|\xE4\xB8\xAD");
  CHECK(typing.type("\x1b[3~").shown() == "a|");
  CHECK(Typing().type("e\xCC\x81").type(left).shown() == "|e\xCC\x81");  // with an accent over it
}

TEST_CASE("words and lines are killed and put back") {
  Typing typing;
  CHECK(typing.type("one two three\x17").shown() == "one two |");
  CHECK(typing.type("\x01\x19").shown() == "three|one two ");
  CHECK(typing.type("\x0b").shown() == "three|");
  CHECK(typing.type("\x15").shown() == "|");
  CHECK(typing.type("\x1f").shown() == "three|");  // undone
}

TEST_CASE("Enter ends what is whole and begins a new line in what is not") {
  Typing typing;
  CHECK(typing.type("f {\r").shown() == "f {\n  |");
  CHECK(typing.last == EditorEvent::none);
  CHECK(typing.type("x;\r}").shown() == "f {\n  x;\n}|");
  typing.type("\r");
  CHECK(typing.last == EditorEvent::submit);
  CHECK(typing.editor.take() == "f {\n  x;\n}");
  CHECK(typing.editor.text().empty());
}

TEST_CASE("an empty last line ends what is not whole") {
  Typing typing;
  typing.type("f {\r\r");
  CHECK(typing.last == EditorEvent::submit);
  CHECK(typing.editor.take() == "f {");
}

TEST_CASE("up and down move in the text first, then in the history") {
  Typing typing;
  typing.history.add("old");
  typing.type("f {\rabc").type(up);
  CHECK(typing.shown() == "f {|\n  abc");
  CHECK(typing.type(down).shown() == "f {\n  a|bc");
  typing.type("\x03");
  CHECK(typing.shown() == "|");
  CHECK(typing.type(up).shown() == "old|");
  CHECK(typing.type(down).shown() == "|");
}

TEST_CASE("the history is walked by what was typed") {
  Typing typing;
  for (const char* entry : {"one 1", "two", "one 2"}) typing.history.add(entry);
  CHECK(typing.type("one").type(up).shown() == "one 2|");
  CHECK(typing.type(up).shown() == "one 1|");
  CHECK(typing.type(up).shown() == "one 1|");
  CHECK(typing.type(down).type(down).shown() == "one|");
}

TEST_CASE("the history is searched") {
  Typing typing;
  for (const char* entry : {"first x", "second x", "third"}) typing.history.add(entry);
  typing.type("kept\x12x");
  CHECK(typing.editor.is_searching());
  CHECK(typing.shown() == "second |x");
  CHECK(typing.type("\x12").shown() == "first |x");
  CHECK(typing.type("\x07").shown() == "kept|");
  CHECK(typing.type("\x12thi\x05!").shown() == "third!|");
}

TEST_CASE("Tab completes as far as it is clear, then shows what there is") {
  Typing typing;
  CHECK(typing.type("x be\t").shown() == "x beta|");
  CHECK(typing.type(" al\t").shown() == "x beta alpha|");
  CHECK(typing.editor.candidates().empty());
  typing.type("\t");
  CHECK(typing.editor.candidates() == std::vector<std::string>{"alpha", "alphabet"});
  CHECK(typing.type("b").editor.candidates().empty());
  CHECK(Typing().type("\t").shown() == "  |");
}

TEST_CASE("Ctrl-C and Ctrl-D mean something else where there is text") {
  Typing typing;
  CHECK(typing.type("x\x03").last == EditorEvent::none);
  CHECK(typing.type("\x03").last == EditorEvent::interrupt);
  CHECK(typing.type("ab\x01\x04").last == EditorEvent::none);
  CHECK(typing.shown() == "|b");
  CHECK(typing.type("\x03\x04").last == EditorEvent::end);
}
