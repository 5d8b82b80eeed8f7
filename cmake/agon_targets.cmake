# agon_precompile(TARGET HEADERS headers... BY target): parses these headers of libraries once for all of the target's C++ files,
# or takes what BY has parsed, which has the same compiler options. The files still include what they use: with
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON every file is compiled without.
function(agon_precompile TARGET)
  cmake_parse_arguments(ARG "" "" "HEADERS;BY" ${ARGN})
  if(ARG_BY)
    target_precompile_headers(${TARGET} REUSE_FROM ${ARG_BY})
  endif()
  list(TRANSFORM ARG_HEADERS REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1>>")
  if(ARG_HEADERS)
    target_precompile_headers(${TARGET} PRIVATE ${ARG_HEADERS})
  endif()
endfunction()

# The headers that nearly every file includes, for the targets without compiler options of their own.
add_library(agon_headers OBJECT cmake/headers.cc)
target_link_libraries(agon_headers PRIVATE agon_flags fmt::fmt nlohmann_json::nlohmann_json)
agon_precompile(agon_headers HEADERS nlohmann/json.hpp fmt/format.h)

# agon_together(TARGET): compiles the target's C++ files twelve at a time, which parses and instantiates the templates of
# libraries once for twelve: that takes longer than the files themselves. No two of its files may have a name in an unnamed
# namespace in common. Those with SKIP_PRECOMPILE_HEADERS, set before, are compiled with each other; those that have options of
# their own or SKIP_UNITY_BUILD_INCLUSION are compiled alone; all are with -DCMAKE_UNITY_BUILD=OFF. CMake's own unity files name
# absolute paths, so ccache would know them in one checkout only.
function(agon_together TARGET)
  if(DEFINED CMAKE_UNITY_BUILD)
    return()
  endif()
  get_target_property(sources ${TARGET} SOURCES)
  set(precompiled "")
  set(parsed "")  # with SKIP_PRECOMPILE_HEADERS
  foreach(source IN LISTS sources)
    get_source_file_property(alone "${source}" SKIP_UNITY_BUILD_INCLUSION)
    get_source_file_property(options "${source}" COMPILE_OPTIONS)
    get_source_file_property(definitions "${source}" COMPILE_DEFINITIONS)
    get_source_file_property(parses "${source}" SKIP_PRECOMPILE_HEADERS)
    if(alone OR options OR definitions OR NOT source MATCHES "\\.cc$")
      continue()
    endif()
    get_filename_component(path "${source}" ABSOLUTE)
    file(RELATIVE_PATH path "${CMAKE_CURRENT_BINARY_DIR}" "${path}")
    if(parses)
      list(APPEND parsed "${path}")
    else()
      list(APPEND precompiled "${path}")
    endif()
    set_source_files_properties("${source}" PROPERTIES HEADER_FILE_ONLY ON)
  endforeach()
  agon_batches(files ${TARGET} ${precompiled})
  agon_batches(parsed_files ${TARGET}_parsed ${parsed})
  set_source_files_properties(${parsed_files} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  # First: a linker takes what several objects define from the first, and those that are compiled alone may need more.
  set_target_properties(${TARGET} PROPERTIES SOURCES "${files};${parsed_files};${sources}")
  # g++ takes a file that is included for a header, whose types may not hold those of an unnamed namespace.
  target_compile_options(${TARGET} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
endfunction()

# agon_batches(FILES NAME PATHS...): writes NAME_0.cc, NAME_1.cc, ..., which include twelve of these paths each, and sets FILES to
# their names.
function(agon_batches FILES NAME)
  set(files "")
  set(count 0)
  foreach(path IN LISTS ARGN)
    math(EXPR batch "${count} / 12")
    math(EXPR count "${count} + 1")
    string(APPEND batch_${batch} "#include \"${path}\"\n")
    list(APPEND files "${CMAKE_CURRENT_BINARY_DIR}/${NAME}_${batch}.cc")
  endforeach()
  list(REMOVE_DUPLICATES files)
  set(batch 0)
  foreach(file IN LISTS files)
    file(CONFIGURE OUTPUT "${file}" CONTENT "${batch_${batch}}" @ONLY)
    math(EXPR batch "${batch} + 1")
  endforeach()
  set(${FILES} "${files}" PARENT_SCOPE)
endfunction()

# agon_library(FOLDER SOURCES ... CUDA ... HEADERS ... DEPENDS ... PRIVATE ...): the target agon_FOLDER.
#   SOURCES  its .cc files; a folder without any is headers alone
#   CUDA     its .cu files, compiled with -DAGON_CUDA=ON
#   HEADERS  its headers; the target all_verify_interface_header_sets compiles each alone
#   DEPENDS  what its headers need, PRIVATE what its .cc files need
#   PRECOMPILE  agon_precompile's headers, or PRECOMPILED_BY  a target with the same compiler options, whose headers it takes
# Its include path holds its own folder and, through DEPENDS, the folders that it may include, and no other: each folder
# is reached through a link <build>/include/FOLDER/FOLDER -> the source folder.
function(agon_library FOLDER)
  cmake_parse_arguments(ARG "" "" "SOURCES;CUDA;HEADERS;DEPENDS;PRIVATE;PRECOMPILE;PRECOMPILED_BY" ${ARGN})
  set(view "${CMAKE_BINARY_DIR}/include/${FOLDER}")
  file(MAKE_DIRECTORY "${view}")
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/${FOLDER}" "${view}/${FOLDER}" SYMBOLIC)
  set(name agon_${FOLDER})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE agon_flags ${ARG_PRIVATE})
    agon_precompile(${name} HEADERS ${ARG_PRECOMPILE} BY ${ARG_PRECOMPILED_BY})
    set(headers_scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_DEPENDS})
    set(headers_scope INTERFACE)
  endif()
  if(AGON_CUDA AND ARG_CUDA)
    target_sources(${name} PRIVATE ${ARG_CUDA})
  endif()
  target_sources(${name} ${headers_scope} FILE_SET HEADERS BASE_DIRS "${CMAKE_SOURCE_DIR}" FILES ${ARG_HEADERS})
  # The file set adds the source root to the include path; the view replaces it, or every folder would be visible.
  set_target_properties(${name} PROPERTIES INCLUDE_DIRECTORIES "${view}" INTERFACE_INCLUDE_DIRECTORIES "${view}"
    VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# agon_torch_part(FOLDER SOURCES ... PRIVATE ... PRECOMPILE ... PRECOMPILED_BY ...): the target agon_FOLDER_torch, those .cc files
# of the folder that need LibTorch to link. Objects, for a shared library of the program and for the tests' programs.
function(agon_torch_part FOLDER)
  cmake_parse_arguments(ARG "" "" "SOURCES;PRIVATE;PRECOMPILE;PRECOMPILED_BY" ${ARGN})
  set(name agon_${FOLDER}_torch)
  add_library(${name} OBJECT ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC agon_${FOLDER} agon_torch PRIVATE agon_flags ${ARG_PRIVATE})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  agon_precompile(${name} HEADERS ${ARG_PRECOMPILE} BY ${ARG_PRECOMPILED_BY})
endfunction()
