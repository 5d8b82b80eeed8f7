# One interface target carries every compiler flag of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # With relative paths in its keys, another checkout of the same sources compiles from the same cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" "${CCACHE}")
endif()

add_library(agon_flags INTERFACE)
target_compile_options(agon_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers -Werror)
if(AGON_SANITIZE)
  target_compile_options(agon_flags INTERFACE -fsanitize=${AGON_SANITIZE} -fno-omit-frame-pointer -Wno-maybe-uninitialized)
  target_link_options(agon_flags INTERFACE -fsanitize=${AGON_SANITIZE})
endif()
find_program(MOLD mold)
if(MOLD)
  target_link_options(agon_flags INTERFACE -fuse-ld=mold)
endif()
