#include "auth/token_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "auth/discovery.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/secret_file.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "process/process_start.hpp"

namespace bridge {
namespace {

constexpr std::uint64_t version = 1;

std::string_view name_of(SecretPlace place) {
  switch (place) {
    case SecretPlace::none: return "none";
    case SecretPlace::basic: return "basic";
    case SecretPlace::body: return "body";
    case SecretPlace::assertion: break;  // made for each request
  }
  return "none";
}

std::int64_t seconds_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

/// Visits all members that are texts.
template <class Login, class Visit>
void each_text(Login& login, Visit&& visit) {
  visit("upstream", login.upstream);
  visit("resource", login.resource);
  visit("issuer", login.issuer);
  visit("token_endpoint", login.token_endpoint);
  visit("revocation_endpoint", login.revocation_endpoint);
  visit("client_id", login.client.id);
  visit("client_secret", login.client.secret);
  visit("redirect_uri", login.client.redirect_uri);
  visit("scope", login.scope);
  visit("access_token", login.access_token);
  visit("refresh_token", login.refresh_token);
}

JsonObject object_of(const StoredLogin& login) {
  JsonObject object;
  each_text(login, [&object](std::string_view name, const std::string& text) {
    object.add_unless_empty(name, text);
  });
  object.add("secret_place", name_of(login.client.place))
      .add("registered", login.client.is_registered)
      .add("public", login.is_public)
      .add("redemptions", login.redemptions);
  if (login.expires) object.add("expires", seconds_of(*login.expires));
  if (login.is_unsaved) object.add("unsaved", true);
  return object;
}

StoredLogin login_of(std::string_view text) {
  StoredLogin login;
  each_text(login, [text](std::string_view name, std::string& member) {
    member = string_member(text, name);
  });
  const std::string place = string_member(text, "secret_place");
  login.client.place = place == "basic"  ? SecretPlace::basic
                       : place == "body" ? SecretPlace::body
                                         : SecretPlace::none;
  const auto number = [text](std::string_view name) {
    return to_unsigned(find_member(text, name).value_or(""));
  };
  login.client.is_registered = find_member(text, "registered") == "true";
  login.is_public = find_member(text, "public") == "true";
  login.is_unsaved = find_member(text, "unsaved") == "true";
  login.redemptions =
      static_cast<int>(std::min<std::uint64_t>(number("redemptions").value_or(0), 9));
  if (const auto seconds = number("expires"); seconds && *seconds < (1ull << 33))
    login.expires = WallTime(std::chrono::seconds(*seconds));
  return login;
}

}  // namespace

std::string logins_text(const std::vector<StoredLogin>& logins) {
  JsonArray list;
  for (const StoredLogin& login : logins) list.add(object_of(login));
  return JsonObject().add("version", version).add("logins", list).text() + "\n";
}

std::optional<std::vector<StoredLogin>> read_logins(const std::string& text) {
  if (!is_json_object(text)) return std::nullopt;
  const auto said = find_member(text, "version");
  const auto list = find_member(text, "logins");
  if (!said || to_unsigned(*said) != version || !list) return std::nullopt;
  std::vector<StoredLogin> logins;
  const bool is_list = each_element(*list, [&](std::string_view element) {
    if (!is_object(element)) return true;
    StoredLogin login = login_of(element);
    if (!endpoint_url(login.revocation_endpoint)) login.revocation_endpoint.clear();
    if (endpoint_url(login.token_endpoint)) logins.push_back(std::move(login));
    return true;
  });
  if (!is_list) return std::nullopt;
  return logins;
}

bool StoredLogin::is_of(const StoredLogin& other) const {
  return upstream == other.upstream && is_same_issuer(issuer, other.issuer) &&
         (client.id == other.client.id || (client.is_registered && other.client.is_registered));
}

namespace {

constexpr std::size_t largest_store = 4u << 20;
constexpr off_t change_byte = 0;

/// Never waits. False, with errno: another process holds it, or there are no such locks.
bool lock_bytes(int descriptor, short type, off_t start, off_t length) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  int outcome = 0;
  do {
    outcome = fcntl(descriptor, F_OFD_SETLK, &lock);
  } while (outcome != 0 && errno == EINTR);
  return outcome == 0;
}

bool is_busy(int error) { return error == EAGAIN || error == EACCES; }

/// The kernel does not signal that such a lock is free.
constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::milliseconds longest_pause{5000};

/// Flushes a file to the disk in a thread of its own, which shares nothing with this one: a disk
/// may take seconds.
void flush_in_background(Descriptor file) {
  const SignalsBlocked blocked;  // signals are the loop's
  try {
    std::thread([file = std::move(file)] { ::fsync(file.get()); }).detach();
  } catch (const std::system_error&) {
    // No thread to be had: the kernel writes it within half a minute.
  }
}

off_t byte_of(const StoredLogin& login) {
  const std::size_t hash = std::hash<std::string>()(
      fmt::format("{}\n{}\n{}", login.upstream, compared_issuer(login.issuer), login.client.id));
  return static_cast<off_t>(1 + hash % (1u << 30));
}

std::string fault_of_status(const struct stat& status) {
  if (status.st_uid != geteuid() && status.st_uid != 0) return "it belongs to another user";
  if ((status.st_mode & 077) != 0) return "others may read it: chmod 600";
  return {};
}

}  // namespace

std::string fault_of_token_store(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT)
      return fmt::format("--token-store: {}: {}", printable(path), std::strerror(errno));
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    if (stat(folder.empty() ? "." : folder.c_str(), &status) == 0) return {};
    return fmt::format("--token-store: {}: its folder does not exist", printable(path));
  }
  const FileContent file = read_regular_file(path, largest_store);
  std::string fault = file.fault.empty() ? fault_of_status(file.status) : file.fault;
  if (fault.empty() && !file.bytes.empty() && !read_logins(file.bytes)) fault = "not a token store";
  return fault.empty() ? fault : fmt::format("--token-store: {}: {}", printable(path), fault);
}

namespace {

/// What the change makes of these logins.
void apply(const LoginOwner& owner, const std::optional<StoredLogin>& login,
           std::vector<StoredLogin>& logins) {
  std::erase_if(logins, [&](const StoredLogin& one) {
    if (!login) return owner.owns(one);
    return one.is_of(*login) || (owner.owns(one) && !one.client.is_registered);
  });
  if (!login) return;
  for (StoredLogin& one : logins) {
    if (!owner.owns(one)) continue;
    one.access_token.clear();
    one.refresh_token.clear();
  }
  logins.push_back(*login);
  logins.back().is_unsaved = false;
}

}  // namespace

TokenStore::TokenStore(EventLoop& loop, std::string path, Log& log)
    : path_(std::move(path)), log_(log), again_(loop, [this] { write_changes(); }) {}

TokenStore::~TokenStore() {
  try {
    if (has_unsaved() && write_changes() == Saved::later) {
      log_.event(LogLevel::error, "token store",
                 "the login is not saved in {}: another process holds {}.lock; a restart loses it",
                 printable(path_), printable(path_));
    }
  } catch (const std::exception&) {  // no memory is left to write it
    return;
  }
}

/// Without the remembered changes.
std::optional<std::vector<StoredLogin>> TokenStore::read_file() {
  const FileIdentity identity = identity_of(path_);
  if (identity.size < 0) {
    seen_ = identity;
    return std::vector<StoredLogin>();
  }
  const FileContent file = read_regular_file(path_, largest_store);
  std::string fault = file.fault.empty() ? fault_of_status(file.status) : file.fault;
  if (fault.empty() && file.bytes.empty()) return std::vector<StoredLogin>();
  auto logins = fault.empty() ? read_logins(file.bytes) : std::nullopt;
  if (!logins) {
    log_.peer(LogLevel::error, "token store", "the token store {} cannot be used: {}",
              printable(path_), fault.empty() ? "not a token store, or of a later version" : fault);
    return std::nullopt;
  }
  seen_ = identity;
  return logins;
}

std::optional<std::vector<StoredLogin>> TokenStore::read() {
  if (!is_persistent()) return in_memory_;
  auto logins = read_file();
  if (logins) {
    for (const Change& one : unsaved_) apply(one.owner, one.login, *logins);
  }
  return logins;
}

bool TokenStore::has_changed() const {
  return is_persistent() && (!seen_ || !(*seen_ == identity_of(path_)));
}

std::optional<StoredLogin> TokenStore::find(const LoginOwner& owner) {
  const auto logins = read();
  if (!logins) return std::nullopt;
  const auto found = std::find_if(logins->rbegin(), logins->rend(),
                                  [&](const StoredLogin& one) { return owner.owns(one); });
  return found == logins->rend() ? std::nullopt : std::optional(*found);
}

bool TokenStore::has_none(const LoginOwner& owner) {
  const auto logins = read();
  return logins && std::none_of(logins->begin(), logins->end(),
                                [&](const StoredLogin& one) { return owner.owns(one); });
}

std::optional<OAuthClient> TokenStore::registration(const LoginOwner& owner,
                                                    const std::string& issuer) {
  const auto logins = read();
  if (!logins) return std::nullopt;
  for (auto one = logins->rbegin(); one != logins->rend(); ++one) {
    if (owner.owns(*one) && is_same_issuer(one->issuer, issuer) && one->client.is_registered)
      return one->client.id.empty() ? std::nullopt : std::optional(one->client);
  }
  return std::nullopt;
}

bool TokenStore::open_lock() {
  if (lock_.get() >= 0) return true;
  lock_ = Descriptor(::open((path_ + ".lock").c_str(),
                            O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (lock_.get() >= 0) return true;
  log_.peer(LogLevel::error, "token store", "the token store {} cannot be locked: {}",
            printable(path_), std::strerror(errno));
  return false;
}

/// True too if this file system has no locks: then there is nothing to wait for.
bool TokenStore::lock_change() {
  return lock_bytes(lock_.get(), F_WRLCK, change_byte, 1) || !is_busy(errno);
}

void TokenStore::unlock_change() { lock_bytes(lock_.get(), F_UNLCK, change_byte, 1); }

TokenStore::Saved TokenStore::change(Change change) {
  if (!is_persistent()) {
    apply(change.owner, change.login, in_memory_);
    return Saved::no;
  }
  remember(std::move(change));
  return write_changes();
}

/// Replaces what it makes obsolete.
void TokenStore::remember(Change change) {
  std::erase_if(unsaved_, [&change](const Change& one) {
    if (!one.login) return !change.login && one.owner == change.owner;
    return change.login ? one.login->is_of(*change.login) : change.owner.owns(*one.login);
  });
  unsaved_.push_back(std::move(change));
}

TokenStore::Saved TokenStore::write_changes() {
  if (unsaved_.empty()) return Saved::yes;
  bool is_written = false;
  if (open_lock()) {
    if (!lock_change()) {
      wait_for_lock();
      return Saved::later;
    }
    const auto logins = read();
    is_written = logins && write(*logins);
    unlock_change();
  }
  if (pause_ == longest_pause && is_written)
    log_.event(LogLevel::info, "token store", "the token store {} is written", printable(path_));
  unsaved_.clear();
  again_.clear();
  pause_ = {};
  return is_written ? Saved::yes : Saved::no;
}

void TokenStore::wait_for_lock() {
  if (again_.is_set()) return;
  const auto last = std::exchange(pause_, std::clamp(2 * pause_, first_pause, longest_pause));
  if (pause_ == longest_pause && last != longest_pause) {
    log_.event(LogLevel::warning, "token store",
               "the token store {} cannot be written: another process holds {}.lock (lslocks shows "
               "which); until then a restart loses the login",
               printable(path_), printable(path_));
  }
  again_.set_after(pause_);
}

TokenStore::Saved TokenStore::save(const LoginOwner& owner, const StoredLogin& login) {
  return change({owner, login});
}

TokenStore::Saved TokenStore::erase(const LoginOwner& owner) {
  return change({owner, std::nullopt});
}

bool TokenStore::write(const std::vector<StoredLogin>& logins) {
  const std::string next = path_ + ".new";
  ::unlink(next.c_str());
  Descriptor file(::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  const bool done = file.get() >= 0 && write_all(file.get(), logins_text(logins)) &&
                    ::rename(next.c_str(), path_.c_str()) == 0;
  if (!done) {
    log_.peer(LogLevel::error, "token store",
              "the token store {} cannot be written: {}; a restart loses the login",
              printable(path_), std::strerror(errno));
    return false;
  }
  seen_ = identity_of(path_);
  flush_in_background(std::move(file));
  return true;
}

TokenStore::Lock TokenStore::try_lock(const StoredLogin& login) {
  if (!is_persistent() || !open_lock()) return Lock::held;  // no other process to exclude
  if (!lock_change()) return Lock::busy;
  unlock_change();
  if (lock_bytes(lock_.get(), F_WRLCK, byte_of(login), 1)) {
    holds_login_ = true;
    return Lock::held;
  }
  return is_busy(errno) ? Lock::busy : Lock::held;
}

void TokenStore::unlock() {
  if (std::exchange(holds_login_, false)) lock_bytes(lock_.get(), F_UNLCK, 1, 0);
}

}  // namespace bridge
