# Debian's cross compiler for arm64, with the libraries of that architecture beside this machine's, and qemu for what
# the build itself runs (the programs that write the man pages).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# The C library of the distribution's own packages, which get security updates, rather than that of the cross compiler.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-B/usr/lib/aarch64-linux-gnu")
# Those of the compiler, which can read what is optimised when it is linked.
find_program(CMAKE_AR aarch64-linux-gnu-gcc-ar REQUIRED)
find_program(CMAKE_RANLIB aarch64-linux-gnu-gcc-ranlib REQUIRED)
set(CMAKE_STRIP aarch64-linux-gnu-strip)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
