# What CPack's DEB generator needs beside the compiler, and does not say before it has built everything:
# without `file` it fails then; without dpkg-shlibdeps the package depends on no library, and the
# installed daemon does not start. package_requirements is what is missing, as a message, or empty.
#
# Alone, `cmake -P` of this file fails with that message.
set(package_tools_missing)
foreach(tool_and_package file:file dpkg-shlibdeps:dpkg-dev gzip:gzip strip:binutils)
  string(REPLACE ":" ";" pair ${tool_and_package})
  list(GET pair 0 tool)
  list(GET pair 1 debian_package)
  find_program(package_tool_${tool} ${tool})
  mark_as_advanced(package_tool_${tool})
  if(NOT package_tool_${tool})
    list(APPEND package_tools_missing ${debian_package})
  endif()
endforeach()
set(package_requirements)
if(package_tools_missing)
  list(JOIN package_tools_missing " " package_tools_missing)
  set(package_requirements "the Debian package cannot be built without: ${package_tools_missing}
Install them: apt-get install ${package_tools_missing}")
endif()
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE AND package_requirements)
  message(FATAL_ERROR "${package_requirements}")
endif()
