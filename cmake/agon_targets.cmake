# agon_precompile(TARGET HEADERS...): parses these headers of libraries once for all of the target's C++ files, which still
# include what they use: with -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON every file is compiled without.
function(agon_precompile TARGET)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1>>" OUTPUT_VARIABLE headers)
  if(headers)
    target_precompile_headers(${TARGET} PRIVATE ${headers})
  endif()
endfunction()

# agon_together(TARGET): compiles the target's C++ files six at a time, which parses the headers of libraries once for six:
# where those take longer than the file itself. No two of its files may have a name in an unnamed namespace in common. Files
# that have options of their own or SKIP_UNITY_BUILD_INCLUSION, set before, are compiled alone; all are with
# -DCMAKE_UNITY_BUILD=OFF. CMake's own unity files name absolute paths, so ccache would know them in one checkout only.
function(agon_together TARGET)
  if(DEFINED CMAKE_UNITY_BUILD)
    return()
  endif()
  get_target_property(sources ${TARGET} SOURCES)
  set(count 0)
  foreach(source IN LISTS sources)
    get_source_file_property(alone "${source}" SKIP_UNITY_BUILD_INCLUSION)
    get_source_file_property(options "${source}" COMPILE_OPTIONS)
    get_source_file_property(definitions "${source}" COMPILE_DEFINITIONS)
    if(alone OR options OR definitions OR NOT source MATCHES "\\.cc$")
      continue()
    endif()
    math(EXPR batch "${count} / 6")
    math(EXPR count "${count} + 1")
    get_filename_component(path "${source}" ABSOLUTE)
    file(RELATIVE_PATH path "${CMAKE_CURRENT_BINARY_DIR}" "${path}")
    string(APPEND batch_${batch} "#include \"${path}\"\n")
    set_source_files_properties("${source}" PROPERTIES HEADER_FILE_ONLY ON)
  endforeach()
  set(batches)
  foreach(number RANGE ${batch})
    set(file "${CMAKE_CURRENT_BINARY_DIR}/${TARGET}_${number}.cc")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${batch_${number}}" @ONLY)
    list(APPEND batches "${file}")
  endforeach()
  # First: a linker takes what several objects define from the first, and those that are compiled alone may need more.
  set_target_properties(${TARGET} PROPERTIES SOURCES "${batches};${sources}")
  # g++ takes a file that is included for a header, whose types may not hold those of an unnamed namespace.
  target_compile_options(${TARGET} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>")
endfunction()

# agon_library(FOLDER SOURCES ... CUDA ... HEADERS ... DEPENDS ... PRIVATE ...): the target agon_FOLDER.
#   SOURCES  its .cc files; a folder without any is headers alone
#   CUDA     its .cu files, compiled with -DAGON_CUDA=ON
#   HEADERS  its headers; the target all_verify_interface_header_sets compiles each alone
#   DEPENDS  what its headers need, PRIVATE what its .cc files need
#   PRECOMPILE  agon_precompile's headers
# Its include path holds its own folder and, through DEPENDS, the folders that it may include, and no other: each folder
# is reached through a link <build>/include/FOLDER/FOLDER -> the source folder.
function(agon_library FOLDER)
  cmake_parse_arguments(ARG "" "" "SOURCES;CUDA;HEADERS;DEPENDS;PRIVATE;PRECOMPILE" ${ARGN})
  set(view "${CMAKE_BINARY_DIR}/include/${FOLDER}")
  file(MAKE_DIRECTORY "${view}")
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/${FOLDER}" "${view}/${FOLDER}" SYMBOLIC)
  set(name agon_${FOLDER})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE agon_flags ${ARG_PRIVATE})
    agon_precompile(${name} ${ARG_PRECOMPILE})
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

# agon_torch_part(FOLDER SOURCES ... PRIVATE ... PRECOMPILE ...): the target agon_FOLDER_torch, those .cc files of the folder that
# need LibTorch to link. Objects, for a shared library of the program and for the tests' programs.
function(agon_torch_part FOLDER)
  cmake_parse_arguments(ARG "" "" "SOURCES;PRIVATE;PRECOMPILE" ${ARGN})
  set(name agon_${FOLDER}_torch)
  add_library(${name} OBJECT ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC agon_${FOLDER} agon_torch PRIVATE agon_flags ${ARG_PRIVATE})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  agon_precompile(${name} ${ARG_PRECOMPILE})
endfunction()
