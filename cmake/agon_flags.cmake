# Languages, and one interface target that carries every compiler flag of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # With relative paths in its keys, another checkout of the same sources compiles from the same cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}"
    "CCACHE_SLOPPINESS=pch_defines,time_macros" "${CCACHE}")
endif()

if(AGON_CUDA)
  # nvcc is $CUDACXX, or stands on the path or where its installer puts it.
  if(NOT DEFINED ENV{CUDACXX})
    find_program(CMAKE_CUDA_COMPILER nvcc PATHS /usr/local/cuda/bin)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90a-real)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # the one that LibTorch loads
  enable_language(CUDA)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")  # which CMake 3.25 does not know
endif()

add_library(agon_flags INTERFACE)
target_compile_options(agon_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wnon-virtual-dtor;-Woverloaded-virtual;-Wno-missing-field-initializers;-Werror>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers;-Werror=all-warnings>")
# GCC 12 sees overlaps and bounds in strings that cannot be (its bugs 105329, 105562).
target_compile_options(agon_flags INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow>")
if(AGON_SANITIZE)
  # g++ sees values that may be uninitialised where a sanitizer's checks stand between their test and their use.
  target_compile_options(agon_flags INTERFACE -fsanitize=${AGON_SANITIZE} -fno-omit-frame-pointer
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
  target_link_options(agon_flags INTERFACE -fsanitize=${AGON_SANITIZE})
  target_compile_definitions(agon_flags INTERFACE AGON_SANITIZED=1)
else()
  target_compile_definitions(agon_flags INTERFACE AGON_SANITIZED=0)
endif()
# g++ looks for what it can free each time its memory has doubled: a tenth of its time, where memory is not short.
target_compile_options(agon_flags INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>")
# Without these ccache does not know a precompiled header again.
target_compile_options(agon_flags INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>"
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
find_program(MOLD mold)
if(MOLD)
  target_link_options(agon_flags INTERFACE -fuse-ld=mold)
endif()
