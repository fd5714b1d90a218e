# Run by CPack on the tree that becomes the package: adds what `cmake --install` has no business with.
if(CPACK_MCP_BRIDGE_REQUIREMENTS)
  message(FATAL_ERROR "${CPACK_MCP_BRIDGE_REQUIREMENTS}")
endif()
set(tree ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
set(source ${CPACK_MCP_BRIDGE_SOURCE})
set(documents ${tree}/usr/share/doc/mcp-session-bridge)

file(MAKE_DIRECTORY ${tree}/etc/mcp-bridged)
configure_file(${source}/systemd/mcp-bridged.env ${tree}/etc/mcp-bridged/mcp-bridged.env COPYONLY)
configure_file(${source}/systemd/debian/copyright ${documents}/copyright COPYONLY)
configure_file(${source}/systemd/debian/lintian-overrides
               ${tree}/usr/share/lintian/overrides/mcp-session-bridge COPYONLY)
configure_file(${source}/systemd/debian/changelog.in ${documents}/changelog.Debian @ONLY)
configure_file(${source}/CHANGELOG.md ${documents}/changelog COPYONLY)
file(GLOB manuals ${tree}/usr/share/man/man*/*.[18])
execute_process(COMMAND gzip -9nf ${documents}/changelog.Debian ${documents}/changelog ${manuals}
                COMMAND_ERROR_IS_FATAL ANY)
