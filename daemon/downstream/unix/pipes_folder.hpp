#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/log.hpp"
#include "downstream/unix/client_socket.hpp"
#include "event/event_loop.hpp"
#include "event/path_watch.hpp"
#include "sockets/path_keeper.hpp"

namespace bridge {

struct PipesOptions {
  bool wanted = false;
  std::string path;  ///< empty: the socket's path and ".pipes"
  mode_t mode = 0700;
  std::optional<gid_t> group;
};

/// `options` with the path that they mean beside this socket. Throws StartError (64) if they name
/// none and the socket is abstract.
PipesOptions with_pipes_path(PipesOptions options, const std::string& socket);

/// Takes the clients of a PipesFolder.
class PipeClients {
 public:
  /// Whether a further client is taken now; otherwise its pipes wait in the folder.
  virtual bool has_room() const = 0;
  /// Takes ownership of the descriptors. uid and gid are the pipes'.
  virtual void pipes_opened(ClientEnds ends, uid_t uid, gid_t gid) = 0;

 protected:
  ~PipeClients() = default;
};

/// The folder in which clients make pipes where sockets are forbidden (PIPES.md).
///
/// The folder belongs to the daemon, which holds a lock in it and removes both at its end. Whatever
/// a client puts there is judged before it is opened, through a descriptor that follows no link and
/// opens no device, and loses its names before it is used. Everything else is removed: unfinished
/// pipes after 10 s, the rest at once. At most 256 entries are handled per turn. Owned by
/// UnixClients; the loop's thread only. Costs nothing while the folder does not change. Errors:
/// StartError (73).
class PipesFolder final : public PublishedPath {
 public:
  /// For an upgrade. The descriptor keeps its owner.
  struct Saved {
    int lock = -1;

    template <class A>
    void each_field(A& archive) {
      archive(lock);
    }
  };

  /// Makes the folder. `earlier`: of the previous process, whose folder it is. REQUIRES:
  /// options.path.
  PipesFolder(EventLoop& loop, Log& log, PipeClients& clients, PipesOptions options,
              std::optional<Saved> earlier);
  PipesFolder(const PipesFolder&) = delete;
  PipesFolder& operator=(const PipesFolder&) = delete;
  ~PipesFolder();

  /// The errors of the constructor that can be seen before it, for --check. Takes and changes
  /// nothing; that a daemon serves the folder is not an error. REQUIRES: options.path.
  static void check(const PipesOptions& options);

  void start();
  /// Opens no further pipes.
  void stop();
  /// There may be room for clients that wait.
  void look_again();
  Saved save() const { return {lock_.get()}; }

  const std::string& name() const override { return options_.path; }
  bool owns_path() const override { return true; }
  bool is_published() const override;
  void publish_again() override;
  std::string_view noun() const override { return "pipes folder"; }

 private:
  void make();
  void take_over(Saved earlier);
  void watch();
  void entry_came(std::string_view entry);
  void scan();
  void scan_further();
  void handle(std::string_view entry);
  void take_pipes(std::string_view name);
  void let_wait(std::string_view name);
  std::string open_pipes(std::string_view name);
  void expire(const std::string& entry);
  void remove(const std::string& entry, std::string_view why);
  bool unlink_entry(const std::string& entry) const;
  Descriptor look_at(const std::string& entry) const;

  struct CloseFolder {
    void operator()(DIR* folder) const { closedir(folder); }
  };

  EventLoop& loop_;
  Log& log_;
  PipeClients& clients_;
  PipesOptions options_;
  Descriptor folder_;
  Descriptor lock_;
  PathWatch watch_;
  PathKeeper keeper_;
  std::unique_ptr<DIR, CloseFolder> scan_;  ///< under way
  DeadlineTimer scan_further_;
  DeadlineTimer sweep_;  ///< the next look for what is unfinished, or could not be opened
  std::deque<std::string> waiting_;  ///< names of clients without room, in their order
  bool more_wait_ = false;           ///< than those
  bool stopped_ = false;
};

}  // namespace bridge
