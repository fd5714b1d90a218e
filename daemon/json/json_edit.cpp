#include "json/json_edit.hpp"

#include <algorithm>
#include <utility>

#include "json/json_text.hpp"

namespace bridge {
namespace {

constexpr std::string_view white_space = " \t\r\n";

/// A longer id and token still fit, so that the text is not copied for them.
constexpr std::size_t spare = 64;

}  // namespace

void Edits::replace(Slice at, std::string with) { edits_.push_back({at, std::move(with)}); }

Slice Edits::moved(Slice value) const {
  Slice moved = value;
  for (const Edit& edit : edits_) {
    const bool is_around = edit.at.begin <= value.begin && value.end <= edit.at.end;
    if (is_around && edit.with.empty()) return {};
    const std::size_t change = edit.with.size() - edit.at.size();  // modulo, like the sums
    if (edit.at.end <= value.begin) moved.begin += change;
    // What is inserted directly after the value is not a part of it.
    if (edit.at.begin < value.end && edit.at.end <= value.end) moved.end += change;
  }
  return moved;
}

std::vector<const Edits::Edit*> Edits::in_order() const {
  std::vector<const Edit*> edits;
  edits.reserve(edits_.size());
  for (const Edit& edit : edits_) edits.push_back(&edit);
  std::stable_sort(edits.begin(), edits.end(), [](const Edit* left, const Edit* right) {
    return left->at.begin < right->at.begin;
  });
  return edits;
}

std::size_t Edits::size_in(std::string_view text) const {
  std::size_t size = text.size();
  for (const Edit& edit : edits_) size += edit.with.size() - edit.at.size();  // modulo
  return size;
}

void Edits::make_in(std::string& text) const {
  if (edits_.size() > most_in_place || size_in(text) > text.capacity()) {
    text = made_in(text);
    return;
  }
  const std::vector<const Edit*> edits = in_order();
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit)
    text.replace((*edit)->at.begin, (*edit)->at.size(), (*edit)->with);
}

std::string Edits::made_in(std::string_view text) const {
  std::string made;
  made.reserve(size_in(text) + spare);
  std::size_t at = 0;
  for (const Edit* edit : in_order()) {
    made += text.substr(at, edit->at.begin - at);
    made += edit->with;
    at = edit->at.end;
  }
  made += text.substr(at);
  return made;
}

void Removal::element(Slice whole, bool drop) {
  if (drop) {
    if (!dropped_.present()) dropped_.begin = whole.begin;
    dropped_.end = whole.end;
    return;
  }
  if (dropped_.present()) {
    if (any_kept_) {
      erase(kept_end_, dropped_.end);
    } else {
      erase(dropped_.begin, whole.begin);
    }
    dropped_ = {};
  }
  any_kept_ = true;
  kept_end_ = whole.end;
}

bool Removal::finish() {
  if (dropped_.present()) erase(any_kept_ ? kept_end_ : dropped_.begin, dropped_.end);
  return any_kept_;
}

void add_members(Edits& edits, std::string_view text, Slice object, std::string_view members) {
  const std::size_t last = text.find_last_not_of(white_space, object.end - 2);
  const bool is_empty = last == object.begin;
  edits.insert(object.end - 1, (is_empty ? "" : ",") + std::string(members));
}

Slice member_around(std::string_view text, Slice value) {
  const std::size_t name_end = text.rfind('"', value.begin - 1);
  const std::size_t name = text.rfind('"', name_end - 1);
  const std::size_t before = text.find_last_not_of(white_space, name - 1);
  if (text[before] == ',') return {before, value.end};
  const std::size_t after = text.find_first_not_of(white_space, value.end);
  return {name, text[after] == ',' ? after + 1 : value.end};
}

Slice whole_value(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(white_space);
  if (begin == text.npos) return {};
  return {begin, text.find_last_not_of(white_space) + 1};
}

Frame edited(Frame frame, const Edits& edits) {
  if (edits.empty()) return frame;
  ReservedMeta& reserved = frame.reserved;
  for (Slice* const slice :
       {&frame.id, &frame.params, &frame.result, &frame.error, &frame.progress_token,
        &frame.request_id, &frame.meta, &frame.protocol_version, &frame.subscription_id,
        &frame.result_type, &frame.name, &frame.arguments, &reserved.client_capabilities,
        &reserved.client_info, &reserved.log_level}) {
    if (slice->present()) *slice = edits.moved(*slice);
  }
  edits.make_in(frame.bytes);
  return frame;
}

}  // namespace bridge
