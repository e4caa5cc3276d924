#include "compiler/tool/repl/saved_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/parse/lexemes.hpp"
#include "compiler/tool/repl/changes.hpp"

namespace raddle::tool::repl {

namespace {

using Names = std::map<std::string, std::string>;  // of the session -> of the script

bool is_named(const Definition& each) {
  return each.kind != DefinitionKind::import && each.kind != DefinitionKind::pragma;
}

std::vector<Lexeme> code_of(std::string_view text) {
  std::vector<Lexeme> lexemes = lexemes_of(text);
  std::erase_if(lexemes, [](const Lexeme& each) {
    return each.kind == LexemeKind::line_comment || each.kind == LexemeKind::block_comment;
  });
  return lexemes;
}
std::string_view text_of(std::string_view text, const Lexeme& lexeme) {
  return text.substr(lexeme.begin, lexeme.end - lexeme.begin);
}

struct Edit {
  std::uint32_t begin, end;
  std::string text;
};

std::string edited(std::string_view text, std::vector<Edit> edits) {
  std::ranges::stable_sort(edits, {}, &Edit::begin);
  std::string result;
  std::uint32_t at = 0;
  for (const Edit& each : edits) {
    if (each.begin < at) continue;  // within what is left out
    result.append(text.substr(at, each.begin - at)).append(each.text);
    at = each.end;
  }
  return result.append(text.substr(at));
}

/// A word as statements have it.
struct Use {
  Lexeme lexeme;
  std::size_t statement = 0;    ///< counted from 0
  bool is_made_there = false;   ///< it stands where its statement declares or assigns it
  bool is_behind_sign = false;  ///< right of the `=` of a statement without a type, which reads what was there before
};

/// The names in `text`, but for fields and names of arguments.
std::vector<Use> uses_in(std::string_view text, const std::vector<Change>& changes) {
  const std::vector<Lexeme> lexemes = code_of(text);
  const auto word = [&](std::size_t i) { return i < lexemes.size() ? text_of(text, lexemes[i]) : std::string_view(); };
  const auto is_word = [&](std::size_t i) { return i < lexemes.size() && lexemes[i].kind == LexemeKind::word; };
  std::vector<Use> uses;
  std::vector<bool> calls;  // of the brackets that are open: whether a call's
  std::size_t statement = 0, start = 0;
  bool has_sign = false;
  for (std::size_t i = 0; i < lexemes.size(); ++i) {
    const std::string_view sign = word(i);
    const bool has_type = (is_word(start) && is_word(start + 1)) || word(start) == "@" || word(start + 1) == "[";
    const bool is_tuple = word(start) == "(" && calls.size() == 1;
    if (is_word(i)) {
      const bool is_field = i > 0 && word(i - 1) == ".";
      const bool is_keyword =
          !calls.empty() && calls.back() && word(i + 1) == "=" && i > 0 && (word(i - 1) == "(" || word(i - 1) == ",");
      const bool is_next = i > 0 && word(i - 1) == "," && has_type && calls.empty();  // `int a = 1, b = 2;`
      const bool is_target =
          (calls.empty() || is_tuple) && (!has_sign || is_next) && (has_type || i == start || is_tuple);
      if (!is_field && !is_keyword) uses.push_back({lexemes[i], statement, is_target, has_sign && !has_type});
    }
    if (sign == "(" || sign == "[" || sign == "{")
      calls.push_back(sign == "(" && i > 0 && is_word(i - 1) && word(i - 1) != "for");
    if ((sign == ")" || sign == "]" || sign == "}") && !calls.empty()) calls.pop_back();
    const bool is_change =
        std::ranges::any_of(changes, [&](const Change& each) { return each.begin == lexemes[i].begin; });
    has_sign = has_sign || (calls.empty() && (sign == "=" || is_change));
    if (!calls.empty() || (sign != ";" && sign != "}")) continue;
    ++statement;
    start = i + 1;
    has_sign = false;
  }
  return uses;
}

class Writer {
 public:
  Writer(const SourceMap& sources, const std::vector<EnteredText>& entries) : sources_(sources), entries_(entries) {
    for (const EnteredText& entry : entries_) {
      add_names(entry.statements + " " + entry.expression, words_);
      for (const std::string& name : entry.made) ++versions_[name];
      step(entry, last_);
    }
  }

  SavedScript run() {
    for (const EnteredText& entry : entries_) {
      const Names before = now_;
      step(entry, definitions_);
      for (const std::string& name : entry.made) make(name, entry);
      find_changed();
      write(entry, before);
    }
    return std::move(script_);
  }

 private:
  static void step(const EnteredText& entry, std::vector<Definition>& definitions) {
    std::erase_if(definitions, [&](const Definition& each) {
      return std::ranges::any_of(entry.replaced, [&](const Definition& gone) { return is_same(gone, each); });
    });
    definitions.insert(definitions.end(), entry.own.begin(), entry.own.end());
  }

  std::string fresh(const std::string& name, std::size_t number) {
    std::string text = fmt::format("{}_{}", name, number);
    while (!words_.insert(text).second) text += "_";
    return text;
  }

  /// The `ans` that the entry makes.
  bool is_ans_read(const EnteredText& entry) const {
    for (const EnteredText* later = &entry + 1; later != entries_.data() + entries_.size(); ++later) {
      std::set<std::string, std::less<>> words;
      add_names(later->statements + " " + later->expression, words);
      if (words.contains("ans")) return true;
      if (later->made.contains("ans")) return false;
    }
    return false;
  }

  void make(const std::string& name, const EnteredText& entry) {
    const std::size_t version = ++made_[name];
    const bool is_last = version == versions_.at(name);
    now_[name] = is_last ? name : fresh(name, version);
    if (!is_last && (name != "ans" || is_ans_read(entry)))
      script_.renamed.push_back(fmt::format("`{}` of line {} is `{}` there", name, entry.line, now_[name]));
  }

  /// Which definitions mean something else now than in the end, by themselves or by what they name.
  void find_changed() {
    changed_.clear();
    for (const auto& [name, written] : now_)
      if (name != written) changed_[name] = written;
    const auto ids = [](const std::vector<Definition>& definitions, const std::string& name) {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
      for (const Definition& each : definitions)
        if (is_named(each) && each.name == name) all.emplace_back(each.span.file, each.span.begin);
      return all;
    };
    for (bool is_found = true; is_found;) {
      is_found = false;
      for (const Definition& each : definitions_) {
        if (!is_named(each) || changed_.contains(each.name)) continue;
        const bool is_other = ids(definitions_, each.name) != ids(last_, each.name);
        if (!is_other && std::ranges::none_of(read_by(each), [&](const auto& use) { return changed_.contains(use); }))
          continue;
        changed_[each.name] = "";  // gets a name when something uses it
        is_found = true;
      }
    }
  }

  /// Names that a definition does not declare itself.
  std::set<std::string> read_by(const Definition& definition) const {
    const std::string_view text = text_at(sources_, definition.span);
    std::set<std::string> all, own;
    const std::vector<Lexeme> lexemes = code_of(text);
    for (std::size_t i = 0; i < lexemes.size(); ++i) {
      if (lexemes[i].kind != LexemeKind::word) continue;
      const std::string name(text_of(text, lexemes[i]));
      const std::string_view before = i == 0 ? std::string_view() : text_of(text, lexemes[i - 1]);
      const bool is_declared = i > 0 && name != definition.name && before != "in" && before != "case" &&
                               (lexemes[i - 1].kind == LexemeKind::word || before == "]");
      if (before != ".") all.insert(name);
      if (is_declared) own.insert(name);
    }
    for (const std::string& each : own) all.erase(each);
    return all;
  }

  /// All that is changed of what `name` needs, with what it is now.
  void add_needed(const std::string& name, std::map<std::string, std::string>& needed) const {
    for (const Definition& each : definitions_) {
      if (!is_named(each) || each.name != name) continue;
      needed[name] += fmt::format("{}:{} ", each.span.file, each.span.begin);
      for (const std::string& use : read_by(each)) {
        const auto changed = changed_.find(use);
        if (changed == changed_.end() || needed.contains(use)) continue;
        needed[use] = changed->second;
        add_needed(use, needed);
      }
    }
  }

  /// The name of a copy of the definitions of `name` as they are now, which is written if it is not there.
  std::string copy_of(const std::string& name) {
    std::map<std::string, std::string> needed;
    add_needed(name, needed);
    std::string key = name;
    for (const auto& [each, meaning] : needed) key += fmt::format(" {}={}", each, meaning);
    const auto known = copies_.find(key);
    if (known != copies_.end()) return known->second;
    const std::string copy = copies_[key] = fresh(name, ++copy_count_[name]);
    script_.renamed.push_back(fmt::format("`{}` as it was is `{}` there", name, copy));
    for (const Definition& each : definitions_) {
      if (!is_named(each) || each.name != name) continue;
      const std::string_view text = text_at(sources_, each.span);
      const std::set<std::string> uses = read_by(each);
      std::vector<Edit> edits;
      for (const Lexeme& lexeme : code_of(text)) {
        const std::string word(text_of(text, lexeme));
        if (lexeme.kind == LexemeKind::word && (word == name || uses.contains(word)))
          edits.push_back({lexeme.begin, lexeme.end, word == name ? copy : written(word, now_)});
      }
      const std::string written_text = edited(text, std::move(edits));
      const bool is_ended = written_text.ends_with('}') || written_text.ends_with(';');
      script_.text += written_text + (is_ended ? "\n" : ";\n");
    }
    return copy;
  }

  bool is_definition(const std::string& name) const {
    return std::ranges::any_of(definitions_,
                               [&](const Definition& each) { return is_named(each) && each.name == name; });
  }

  std::string written(const std::string& name, const Names& variables) {
    const auto variable = variables.find(name);
    if (variable != variables.end()) return variable->second;
    return changed_.contains(name) && is_definition(name) ? copy_of(name) : name;
  }

  /// Statements with the names of the script; definitions that something has replaced are left out.
  std::string renamed(const EnteredText& entry, const Names& before) {
    const std::string_view text = entry.statements;
    std::vector<Edit> edits;
    std::vector<Span> definitions;
    for (const Definition& each : entry.own) {
      if (!is_named(each)) continue;
      const Span span{0, each.span.begin - entry.begin, each.span.end - entry.begin};
      definitions.push_back(span);
      if (std::ranges::none_of(last_, [&](const Definition& kept) { return is_same(kept, each); }))
        edits.push_back({span.begin, span.end, ""});
    }
    const auto is_in_definition = [&](std::uint32_t at) {
      return std::ranges::any_of(definitions, [at](const Span& span) { return span.begin <= at && at < span.end; });
    };
    std::vector<Change> changes = changes_in(text);
    std::erase_if(changes,
                  [&](const Change& each) { return !entry.made.contains(each.name) || !before.contains(each.name); });
    for (const Change& each : changes) {
      edits.push_back({each.begin, each.end, each.instead_of_sign(written(each.name, before))});
      edits.push_back({each.value_end, each.value_end, ")"});
    }
    const std::vector<Use> uses = uses_in(text, changes);
    std::map<std::string, std::size_t> makers;  // the statements that make names anew
    for (const Use& use : uses) {
      const std::string name(text_of(text, use.lexeme));
      if (use.is_made_there && entry.made.contains(name)) makers.emplace(name, use.statement);
    }
    for (const Use& use : uses) {
      if (is_in_definition(use.lexeme.begin)) continue;
      const std::string name(text_of(text, use.lexeme));
      const auto maker = makers.find(name);
      const bool is_old = maker != makers.end() && before.contains(name) &&
                          (use.statement < maker->second || (use.statement == maker->second && use.is_behind_sign));
      const std::string instead = written(name, is_old ? before : now_);
      if (instead != name) edits.push_back({use.lexeme.begin, use.lexeme.end, instead});
    }
    return edited(text, std::move(edits));
  }

  void write(const EnteredText& entry, const Names& before) {
    std::string text = renamed(entry, before);
    if (entry.made.contains("ans") && is_ans_read(entry)) {
      EnteredText shown = entry;
      shown.statements = entry.expression;
      shown.own.clear();
      shown.made.clear();
      std::string targets;
      for (const std::string& name : entry.made)
        if (name.starts_with("ans")) targets += (targets.empty() ? "" : ", ") + now_.at(name);
      const Names now = std::exchange(now_, before);
      const std::string value = renamed(shown, before);
      now_ = now;
      if (targets.find(',') != std::string::npos) targets = "(" + targets + ")";
      text += (text.empty() ? "" : "\n") + targets + " = " + value + ";";
    }
    const std::size_t end = text.find_last_not_of(" \n\t");
    if (end != std::string::npos) {
      script_.text += text + (text[end] == ';' || text[end] == '}' ? "\n" : ";\n");
      return;
    }
    text = entry.statements + entry.expression;
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at) text.insert(at + 1, "// ");
    script_.text += "// " + text + "\n";
  }

  const SourceMap& sources_;
  const std::vector<EnteredText>& entries_;
  std::set<std::string, std::less<>> words_;  ///< no new name is one of them
  std::map<std::string, std::size_t> versions_, made_, copy_count_;
  std::vector<Definition> last_;         ///< at the end of the session
  std::vector<Definition> definitions_;  ///< behind the entry that is written
  Names now_;                            ///< of variables, behind that entry
  std::map<std::string, std::string> changed_;
  std::map<std::string, std::string> copies_;  ///< by what they mean
  SavedScript script_;
};

}  // namespace

SavedScript saved_script(const SourceMap& sources, const std::vector<EnteredText>& entries) {
  return Writer(sources, entries).run();
}

}  // namespace raddle::tool::repl
