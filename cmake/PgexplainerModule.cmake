# pgexplainer_module(NAME SOURCES ... DEPENDS ... LIBRARIES ...)
# One library target per module, pgexplainer::NAME. DEPENDS are modules above it in the order of the design.
add_library(pgexplainer_warnings INTERFACE)
# clang counts changes of sign under -Wconversion, GCC does not.
target_compile_options(pgexplainer_warnings INTERFACE -Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow)
# Without AVX, passing wide vectors changes the calling convention; ours are only passed to inlined functions.
target_compile_options(pgexplainer_warnings INTERFACE -Wno-psabi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12's own AVX-512 header trips these (GCC bug 105593), which one depends on the processor it tunes for.
  target_compile_options(pgexplainer_warnings INTERFACE -Wno-maybe-uninitialized -Wno-uninitialized)
endif()
if(PGEXPLAINER_WERROR)
  target_compile_options(pgexplainer_warnings INTERFACE -Werror)
endif()
# Nobody reads errno; with it, std::sqrt in a loop cannot become a vector instruction.
add_compile_options(-fno-math-errno)
if(PGEXPLAINER_NATIVE)
  add_compile_options(-march=native)
endif()

function(pgexplainer_module NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  set(target pgexplainer_${NAME})
  add_library(${target} ${ARG_SOURCES})
  add_library(pgexplainer::${NAME} ALIAS ${target})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  list(TRANSFORM ARG_DEPENDS PREPEND pgexplainer_)
  target_link_libraries(${target} PUBLIC ${ARG_DEPENDS} ${ARG_LIBRARIES}
                                  PRIVATE $<BUILD_INTERFACE:pgexplainer_warnings>)
  if(NAME STREQUAL core)  # the large headers that nearly every file reads, once
    target_precompile_headers(${target} PRIVATE <Eigen/Core> <fmt/format.h> <nlohmann/json.hpp>)
  else()
    target_precompile_headers(${target} REUSE_FROM pgexplainer_core)
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${NAME})
  install(TARGETS ${target} EXPORT pgexplainer_targets)
endfunction()
