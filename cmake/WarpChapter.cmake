# warp_add_chapter(NN_name): the program of one chapter, from chapters/NN_name/name.cu.
#
# The header comment of name.cu says the sizes; nothing of it is repeated here. Files beside it:
#   *_peers.cu, *_sm90.cu, *_gpu.cu   only the gpu backend compiles
#   *_cublas.cu                       only the gpu backend compiles, and only where there is cuBLAS
#   *_stub.cu                         only the simulator compiles: says SKIP for what the former hold
#   *_peers_stub.cu                   stands in for *_peers.cu, also where the gpu backend lacks cuBLAS
#   *_sm90_stub.cu                    stands in for *_sm90.cu, also on a GPU of another architecture or where CUDA is
#                                     older than 12.9
#   any other .cu                     both backends compile
#
# The simulator builds two programs: NAME (traced: it counts and checks) and, when that target is asked
# for, NAME_fast.

# warp_chapter_field(FILE "Size gpu" VARIABLE): the value of a `// Key: value` line of the header.
function(warp_chapter_field file key variable)
  file(STRINGS ${file} lines REGEX "^// ${key}:" LIMIT_COUNT 1)
  if(NOT lines)
    message(FATAL_ERROR "${file}: the header has no line '// ${key}: ...'")
  endif()
  string(REGEX REPLACE "^// ${key}:[ \t]*" "" value "${lines}")
  string(STRIP "${value}" value)
  set(${variable} "${value}" PARENT_SCOPE)
endfunction()

# warp_header_source(MAIN OUTPUT): the C++ that tells a program what the header comment of MAIN says.
function(warp_header_source main output)
  if(WARP_BACKEND STREQUAL "gpu" AND TARGET lab_cublas)
    set(cublas --cublas)
  endif()
  # The stamp is as new as the source; the output is as new as the last change of the header.
  add_custom_command(
    OUTPUT ${output}.stamp
    BYPRODUCTS ${output}
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/chapter_header.py ${main} ${output} ${cublas}
    COMMAND ${CMAKE_COMMAND} -E touch ${output}.stamp
    DEPENDS ${main} ${PROJECT_SOURCE_DIR}/cmake/chapter_header.py ${PROJECT_SOURCE_DIR}/tools/course/header.py
    COMMENT "Reading the header of ${main}"
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES GENERATED TRUE SKIP_UNITY_BUILD_INCLUSION TRUE)
endfunction()

function(warp_add_chapter chapter)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${chapter})
  string(REGEX REPLACE "^(.*/)?[0-9]+_" "" name ${chapter})
  set(main ${folder}/${name}.cu)
  if(NOT EXISTS ${main})
    message(FATAL_ERROR "chapter ${chapter}: ${main} does not exist")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${main})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cu)
  if(WARP_BACKEND STREQUAL "gpu")
    list(FILTER sources EXCLUDE REGEX "_stub\\.cu$")
    if(NOT TARGET lab_cublas)
      list(FILTER sources EXCLUDE REGEX "_(peers|cublas)\\.cu$")
      file(GLOB stubs CONFIGURE_DEPENDS ${folder}/*_peers_stub.cu)
      list(APPEND sources ${stubs})
    endif()
    # What *_sm90.cu asks for is there with the suffix `a` only, and from 9.0 on; and in cuda::ptx from CUDA 12.9 on.
    if(NOT CMAKE_CUDA_ARCHITECTURES MATCHES "^(90|100)a$" OR CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.9)
      list(FILTER sources EXCLUDE REGEX "_sm90\\.cu$")
      file(GLOB stubs CONFIGURE_DEPENDS ${folder}/*_sm90_stub.cu)
      list(APPEND sources ${stubs})
    endif()
  else()
    list(FILTER sources EXCLUDE REGEX "_(peers|cublas|sm90|gpu)\\.cu$")
  endif()

  warp_chapter_field(${main} "Size ${WARP_BACKEND}" size)
  set(definitions "LAB_CHAPTER=\"${chapter}\"" "LAB_DEFAULT_SIZE=\"${size}\"")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${chapter})

  set(header ${output}/header.cpp)
  warp_header_source(${main} ${header})
  add_custom_target(${name}_header DEPENDS ${header}.stamp)

  if(WARP_BACKEND STREQUAL "gpu")
    add_executable(${name} ${sources} ${header})
    add_dependencies(${name} ${name}_header)
    target_compile_definitions(${name} PRIVATE ${definitions})
    target_link_libraries(${name} PRIVATE lab)
    # The linker leaves cuBLAS out where the chapter does not call it.
    if(TARGET lab_cublas)
      target_link_libraries(${name} PRIVATE lab_cublas)
      target_link_options(${name} PRIVATE -Wl,--as-needed)
    endif()
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${output})
    # A chapter's own additions: libraries of its peers, options of single files.
    if(EXISTS ${folder}/gpu.cmake)
      include(${folder}/gpu.cmake)
    endif()
  else()
    warp_simt_executable(${name} ${sources} INCLUDES ${WARP_LAB_INCLUDES} DEFINITIONS ${definitions}
                         LIBRARIES lab)
    warp_simt_executable(${name}_fast ${sources} FAST INCLUDES ${WARP_LAB_INCLUDES}
                         DEFINITIONS ${definitions} LIBRARIES lab)
    set_target_properties(${name} ${name}_fast PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${output})
    foreach(program ${name} ${name}_fast)
      target_sources(${program} PRIVATE ${header})
      add_dependencies(${program} ${name}_header)
    endforeach()
    set_target_properties(${name}_fast PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
endfunction()
