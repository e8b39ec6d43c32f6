# The simulator backend: .cu files through simtcc, which the same build makes.
include(${CMAKE_CURRENT_LIST_DIR}/WarpOwnFunctions.cmake)

# warp_simt_executable(TARGET SOURCES... [FAST] [OPTIONS opt...] [INCLUDES dir...] [DEFINITIONS def...] [LIBRARIES lib...])
#
# An executable whose .cu sources are compiled by simtcc: instrumented, so that the run counts and
# checks, or with FAST a plain compilation of the same sources. OPTIONS are simtcc's own, and for a whole folder
# those of the variable WARP_SIMT_OPTIONS.
function(warp_simt_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "FAST" "" "OPTIONS;INCLUDES;DEFINITIONS;LIBRARIES")
  warp_simt_objects(objects)
  add_executable(${target} ${objects})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES} simt)
endfunction()

# warp_simt_library(TARGET SOURCES... [FAST] [OPTIONS opt...] [INCLUDES dir...] [DEFINITIONS def...])
#
# The like as a static library; of what is in a FAST one, nothing is counted or checked, whatever links
# it. Its users name the INCLUDES and DEFINITIONS that its headers need themselves.
function(warp_simt_library target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "FAST" "" "OPTIONS;INCLUDES;DEFINITIONS")
  warp_simt_objects(objects)
  add_library(${target} STATIC ${objects})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} INTERFACE simt)
endfunction()

# warp_simt_objects(VARIABLE): the objects of the `target` of the calling function, from its arguments.
function(warp_simt_objects variable)
  # Where each variable lies at each instruction takes g++ a fifth of its time; gdb shows most of them without.
  set(options -std=c++20 -Wall -Wextra -fno-var-tracking ${WARP_SIMT_OPTIONS} ${ARG_OPTIONS})
  if(ARG_FAST)
    list(APPEND options --fast)
  endif()
  foreach(include IN LISTS ARG_INCLUDES)
    list(APPEND options -I${include})
  endforeach()
  foreach(definition IN LISTS ARG_DEFINITIONS)
    list(APPEND options "-D${definition}")
  endforeach()

  set(objects "")
  foreach(source IN LISTS ARG_UNPARSED_ARGUMENTS)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE source_path)
    cmake_path(GET source_path FILENAME name)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}.dir/${name}.o)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/${target}.dir
      COMMAND simtcc ${options} -c -o ${object} -MD -MF ${object}.d -MT ${object} ${source_path}
      DEPENDS ${source_path} simtcc
      DEPFILE ${object}.d
      COMMENT "simtcc ${target}: ${name}"
      VERBATIM COMMAND_EXPAND_LISTS)
    list(APPEND objects ${object})
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()
