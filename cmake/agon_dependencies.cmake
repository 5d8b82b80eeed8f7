# Third-party libraries as imported targets under agon:: where the package brings none. All of them are SYSTEM.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenCV 4.6 REQUIRED COMPONENTS core imgproc)
find_package(SQLiteCpp 3.2 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(yaml-cpp 0.7 REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(ICU REQUIRED IMPORTED_TARGET icu-uc>=72)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(PNG REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(JPEG REQUIRED IMPORTED_TARGET libjpeg)
pkg_check_modules(WEBP REQUIRED IMPORTED_TARGET libwebp)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
pkg_check_modules(RAPIDJSON REQUIRED IMPORTED_TARGET RapidJSON)

add_library(agon_opencv INTERFACE)
target_include_directories(agon_opencv SYSTEM INTERFACE ${OpenCV_INCLUDE_DIRS})
target_link_libraries(agon_opencv INTERFACE opencv_core opencv_imgproc)  # imgcodecs would load GDAL and a hundred libraries more

# LibTorch: find_package(Torch) of the CUDA wheel insists on a CUDA toolkit, so the targets are defined here.
foreach(library libc10.so libtorch_cpu.so)
  if(NOT EXISTS "${AGON_TORCH_DIR}/lib/${library}")
    message(FATAL_ERROR "No ${library} in ${AGON_TORCH_DIR}/lib. Run script/bootstrap, or give -DAGON_TORCH_DIR=<LibTorch folder>.")
  endif()
endforeach()
add_library(agon_torch_headers INTERFACE)
target_compile_definitions(agon_torch_headers INTERFACE AT_PER_OPERATOR_HEADERS)  # a file parses the operators that it names, not all
# Behind the system's folders: the wheel carries an fmt of its own, of another version.
target_compile_options(agon_torch_headers INTERFACE
  "SHELL:-idirafter ${AGON_TORCH_DIR}/include" "SHELL:-idirafter ${AGON_TORCH_DIR}/include/torch/csrc/api/include")
add_library(agon_torch INTERFACE)
target_link_libraries(agon_torch INTERFACE agon_torch_headers)
target_link_libraries(agon_torch INTERFACE "${AGON_TORCH_DIR}/lib/libtorch_cpu.so" "${AGON_TORCH_DIR}/lib/libc10.so")
target_link_options(agon_torch INTERFACE "-Wl,--allow-shlib-undefined" "-Wl,-rpath,${AGON_TORCH_DIR}/lib"
  "-Wl,-rpath-link,${AGON_TORCH_DIR}/lib")
if(AGON_CUDA)
  target_link_libraries(agon_torch INTERFACE
    "-Wl,--no-as-needed" "${AGON_TORCH_DIR}/lib/libtorch_cuda.so" "${AGON_TORCH_DIR}/lib/libc10_cuda.so" "-Wl,--as-needed")
endif()
# LibTorch's own OpenMP runtime; sanitizers see nothing of it.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT AGON_SANITIZE)
  file(GLOB agon_openmp_runtime "${AGON_TORCH_DIR}/lib/libgomp*.so*")
endif()
# For agon_precompile: clang reads of a precompiled header what a file needs, g++ all of it, which takes longer than it spares.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(agon_precompiled_torch ATen/TensorOperators.h torch/csrc/autograd/autograd.h ATen/Parallel.h)
endif()
