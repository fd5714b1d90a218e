#include "http/client/http_options.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace bridge;

namespace {

/// A folder with files, removed together with them.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("ca_store_test-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string make(const std::string& name) const {
    std::ofstream(path / name) << "x";
    return path / name;
  }
};

}  // namespace

TEST_CASE("where the TLS library's own file is there, nothing else is chosen") {
  const Folder folder;
  CHECK(choose_ca_file(folder.make("usual"), {folder.make("other")}, folder.make("own")) == "");
}

TEST_CASE("in the image of another distribution that one's file is chosen, the first there is") {
  const Folder folder;
  const std::string missing = folder.path / "missing";
  const std::string second = folder.make("second");
  CHECK(choose_ca_file(missing, {missing, second, folder.make("third")}, folder.make("own")) ==
        second);
  CHECK(choose_ca_file("", {second}, "") == second);
}

TEST_CASE("where there is none at all the program's own copy is chosen, if it has one") {
  const Folder folder;
  const std::string missing = folder.path / "missing";
  const std::string own = folder.make("own");
  CHECK(choose_ca_file(missing, {missing}, own) == own);
  CHECK(choose_ca_file(missing, {missing}, missing) == "");
  CHECK(choose_ca_file(missing, {}, "") == "");
}

TEST_CASE("Debian's and Alpine's places are known") {
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem"})
    CHECK(std::find(known_ca_files().begin(), known_ca_files().end(), file) !=
          known_ca_files().end());
}
