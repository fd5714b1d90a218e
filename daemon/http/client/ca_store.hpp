#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// Where distributions keep the certificate authorities they trust, as one file (PEM).
const std::vector<std::string>& known_ca_files();

/// The first of `known` that can be read, else `own`; empty if `usual`, which the TLS library uses
/// by itself, can be read, or if nothing can.
std::string choose_ca_file(std::string_view usual, const std::vector<std::string>& known,
                           const std::string& own);

/// The file to trust where the one that libcurl was built for is missing: in an image of another
/// distribution, or in one without any, where the copy that stands beside a self-contained program
/// counts (docker/self_contained.sh). Empty: libcurl's own.
std::string find_ca_file();

}  // namespace bridge
