#pragma once

#include "http/response.hpp"

namespace bridge {

/// What a browser is shown that has come to the redirect address: what happened and nothing else;
/// no script, no link, nothing that it came with. Pure.
enum class RedirectPage { logged_in, not_logged_in, unknown_address };

HttpResponse redirect_page(RedirectPage page);

}  // namespace bridge
