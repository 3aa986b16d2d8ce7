# Used by the build and by the installed package, so that both find the same libraries.
include(CMakeFindDependencyMacro)
find_dependency(Eigen3 3.4)
find_dependency(TBB)
find_dependency(fmt)
find_dependency(nlohmann_json)
find_dependency(ZLIB)
find_dependency(PkgConfig)
# Debian's CMake files for libzip need its command-line tools; pkg-config does not.
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
find_dependency(CURL)
find_dependency(OpenSSL COMPONENTS Crypto)
