#include "compiler/tool/repl/console.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "compiler/tool/repl/completion.hpp"
#include "compiler/tool/repl/highlight.hpp"

namespace raddle::tool::repl {

namespace {

using std::chrono::milliseconds;
using terminal::EditorEvent;
using terminal::Key;
using terminal::KeyKind;

constexpr milliseconds busy_interval(30), idle_interval(500), rest_patience(150);

constexpr std::string_view prompt_style = "1;32";

}  // namespace

Console::Console(bool has_colour)
    : has_colour_(has_colour),
      tty_(STDIN_FILENO, STDOUT_FILENO),
      capture_([this](std::string_view printed) { show(printed); }),
      history_(terminal::default_history_file()),
      editor_({.is_unfinished =
                   [](const std::string& text) { return !text.starts_with(':') && PieceCompiler::is_unfinished(text); },
               .complete =
                   [this](std::string_view text, std::size_t cursor) {
                     return complete(conversation_->session(), Conversation::commands(), text, cursor);
                   }},
              history_) {}

// ---------------------------------------------------------------- what is seen

void Console::show(std::string_view printed) {
  const std::lock_guard lock(mutex_);
  std::string out = is_prompting_ ? screen_.erase() : "";
  out += printed;
  is_line_begun_ = printed.back() != '\n';
  if (is_prompting_) {
    if (std::exchange(is_line_begun_, false)) out += "\n";
    out += screen_.draw(view());
  }
  tty_.write(out);
}

terminal::View Console::view() const {
  terminal::View view;
  view.prompt = editor_.is_searching() ? editor_.search_prompt() : prompt_;
  view.continuation = std::string(prompt_.size() - 2, ' ') + ". ";
  if (has_colour_) view.prompt_style = prompt_style;
  view.text = editor_.text();
  view.cursor = editor_.cursor();
  if (has_colour_) view.styles = highlight(editor_.text());
  view.below = editor_.candidates();
  return view;
}

void Console::draw() {
  const std::lock_guard lock(mutex_);
  if (has_resized_.exchange(false, std::memory_order_relaxed)) screen_.resize(tty_.size());
  if (is_prompting_) tty_.write(screen_.draw(view()));
}

void Console::begin_prompt(const Conversation& conversation) {
  capture_.drain();
  {
    const std::lock_guard lock(mutex_);
    prompt_ = fmt::format("{}> ", conversation.line());
    if (std::exchange(is_line_begun_, false)) tty_.write("\n");
    screen_.resize(tty_.size());
    is_prompting_ = true;
  }
  draw();
}

// ---------------------------------------------------------------- what is typed

bool Console::read_keys(milliseconds most) {
  const std::optional<std::string> bytes = tty_.read(decoder_.is_waiting() ? decoder_.patience() : most);
  if (!bytes) {
    must_leave_.store(true, std::memory_order_relaxed);
    return false;
  }
  for (Key& key : bytes->empty() ? decoder_.flush() : decoder_.feed(*bytes)) keys_.push_back(std::move(key));
  return true;
}

bool Console::is_interrupted(milliseconds most) {
  read_keys(most);
  if (must_leave_.load(std::memory_order_relaxed)) return true;
  const auto stop = std::ranges::find(keys_, Key{KeyKind::control, "c"});
  if (stop == keys_.end()) return false;
  keys_.erase(keys_.begin(), stop + 1);  // what was typed before it is not meant any more
  return true;
}

void Console::leave() {
  capture_.drain();
  tty_.leave();
}

void Console::run(Conversation& conversation) {
  conversation_ = &conversation;
  begin_prompt(conversation);
  while (true) {
    if (keys_.empty() && !read_keys(conversation.is_busy() ? busy_interval : idle_interval)) break;
    if (must_leave_.load(std::memory_order_relaxed)) break;
    if (has_resized_.load(std::memory_order_relaxed)) draw();
    Reading reading = Reading::goes_on;
    bool has_typed = false;
    while (!keys_.empty() && reading == Reading::goes_on) {
      const Key key = std::move(keys_.front());
      keys_.pop_front();
      reading = handle(key, conversation);
      has_typed = true;
    }
    if (reading == Reading::leaves) break;
    if (has_typed) draw();
    conversation.look();
    OutputCapture::flush();
  }
  const std::lock_guard lock(mutex_);
  if (is_prompting_) tty_.write(screen_.finish(view()));
  is_prompting_ = false;
}

Console::Reading Console::handle(const Key& key, Conversation& conversation) {
  EditorEvent event;
  {
    const std::lock_guard lock(mutex_);
    event = editor_.handle(key);
  }
  const bool was_leaving = std::exchange(is_leaving_, false);
  switch (event) {
    case EditorEvent::none: break;
    case EditorEvent::submit: return submit(conversation);
    case EditorEvent::interrupt: conversation.interrupt(); break;
    case EditorEvent::end:
      // the last value is told of a moment before the workers have nothing left to do
      if (was_leaving || !conversation.is_busy() || conversation.session().wait_for_rest(rest_patience))
        return Reading::leaves;
      fmt::print("something still runs: Ctrl-D once more leaves and ends it\n");
      is_leaving_ = true;
      break;
    case EditorEvent::clear_screen: {
      const std::lock_guard lock(mutex_);
      tty_.write("\x1b[H\x1b[2J");
      screen_ = {};
      screen_.resize(tty_.size());
      break;
    }
    case EditorEvent::suspend: suspend(); break;
  }
  return Reading::goes_on;
}

Console::Reading Console::submit(Conversation& conversation) {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    tty_.write(screen_.finish(view()));
    is_prompting_ = false;
    text = editor_.take();
  }
  if (!text.empty() && !conversation.answer(text)) return Reading::leaves;
  begin_prompt(conversation);
  return Reading::goes_on;
}

void Console::suspend() {
  {
    const std::lock_guard lock(mutex_);
    tty_.write(screen_.erase());
    tty_.leave();
  }
  kill(0, SIGTSTP);  // the whole group of processes, as Ctrl-Z would
  tty_.enter();
  draw();
}

}  // namespace raddle::tool::repl
