# agon_library(FOLDER SOURCES ... HEADERS ... DEPENDS ... PRIVATE ...): the target agon_FOLDER.
# Its include path holds only its own folder and, through DEPENDS, the folders it may include: each folder is reached
# through a link farm build/include/FOLDER/FOLDER -> the source folder.
# HEADERS are compiled alone by the target all_verify_interface_header_sets.
function(agon_library FOLDER)
  cmake_parse_arguments(ARG "" "" "SOURCES;HEADERS;DEPENDS;PRIVATE" ${ARGN})
  set(view "${CMAKE_BINARY_DIR}/include/${FOLDER}")
  file(MAKE_DIRECTORY "${view}")
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/${FOLDER}" "${view}/${FOLDER}" SYMBOLIC)
  add_library(agon_${FOLDER} STATIC ${ARG_SOURCES})
  target_sources(agon_${FOLDER} PUBLIC FILE_SET HEADERS BASE_DIRS "${CMAKE_SOURCE_DIR}" FILES ${ARG_HEADERS})
  get_target_property(added agon_${FOLDER} INTERFACE_INCLUDE_DIRECTORIES)
  # The file set adds the source root to the include path; the view replaces it, or every folder would be visible.
  set_target_properties(agon_${FOLDER} PROPERTIES INCLUDE_DIRECTORIES "${view}" INTERFACE_INCLUDE_DIRECTORIES "${view}"
    VERIFY_INTERFACE_HEADER_SETS ON)
  target_link_libraries(agon_${FOLDER} PUBLIC ${ARG_DEPENDS} PRIVATE agon_flags ${ARG_PRIVATE})
endfunction()
