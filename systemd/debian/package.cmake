# The .deb, from what `cmake --install` puts under /usr:
#   cmake --preset package && cmake --build --preset package
include(${CMAKE_CURRENT_LIST_DIR}/requirements.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/release.cmake)
if(MCP_BRIDGE_PACKAGE AND package_requirements)
  message(FATAL_ERROR "${package_requirements}")
endif()
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mcp-session-bridge)
set(CPACK_PACKAGE_VENDOR mcp-session-bridge)
set(CPACK_PACKAGE_CONTACT "mcp-session-bridge <root@localhost>" CACHE STRING "Who maintains the package: NAME <ADDRESS>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${debian_release})
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "one MCP session, held for many short-lived local processes")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "mcp-bridged holds one session to one MCP server (Model Context Protocol) and
lets any number of local processes use it through a Unix socket, one JSON-RPC
message a line. Notifications that come while nobody is connected wait for the
next client.

mcp-nc is the companion on the other side of the socket: a relay for MCP
clients that speak stdio, and a caller of tools for shell scripts.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_LIST_DIR}/postinst
    ${CMAKE_CURRENT_LIST_DIR}/prerm
    ${CMAKE_CURRENT_LIST_DIR}/postrm
    ${CMAKE_CURRENT_LIST_DIR}/conffiles)
# What belongs to a Debian package only, and what stands outside the prefix.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/complete_tree.cmake)
set(CPACK_MCP_BRIDGE_SOURCE ${PROJECT_SOURCE_DIR})
# Whoever calls CPack in another folder than the preset's is told before anything is packed.
set(CPACK_MCP_BRIDGE_REQUIREMENTS "${package_requirements}")
include(CPack)
