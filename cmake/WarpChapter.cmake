# warp_add_chapter(NN_name): the program of one chapter, from NN_name/name.cu and what stands beside it.
#
# The header comment of name.cu says what the program has to know; nothing of it is repeated here. Files beside it:
#   *_gpu.cu       only the gpu backend compiles
#   *_cublas.cu    only the gpu backend, and only where there is cuBLAS
#   *_sm90.cu      only the gpu backend, for 9.0 or 10.0 with the suffix `a`, and from CUDA 12.9 on
#   *_hopper.cu    the same, and the simulator
#   any other .cu  both backends compile
#   *.cpp          host code, which both backends compile, and the simulator neither counts nor checks
# A file that is left out registers no rungs; the program reports those that the header names as SKIP.
#
# The simulator builds two programs: NAME (traced: it counts and checks) and, when that target is asked
# for, NAME_fast.

# warp_header_source(MAIN OUTPUT): the C++ that tells a program what the header comment of MAIN says.
function(warp_header_source main output)
  if(TARGET lab_cublas)
    set(cublas --cublas)
  endif()
  # The stamp is as new as the source; the output is as new as the last change of the header.
  add_custom_command(
    OUTPUT ${output}.stamp
    BYPRODUCTS ${output}
    COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/chapter_header.py ${main} ${output} ${cublas}
    COMMAND ${CMAKE_COMMAND} -E touch ${output}.stamp
    DEPENDS ${main} ${PROJECT_SOURCE_DIR}/cmake/chapter_header.py ${PROJECT_SOURCE_DIR}/tools/warp/chapter/header.py
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
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cu)
  file(GLOB host_sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(REMOVE_ITEM sources ${main})  # whatever its name ends in
  if(WARP_BACKEND STREQUAL "simulator")
    list(FILTER sources EXCLUDE REGEX "_gpu\\.cu$")
  endif()
  if(NOT TARGET lab_cublas)
    list(FILTER sources EXCLUDE REGEX "_cublas\\.cu$")
  endif()
  # The instructions are there with the suffix `a` only, and in cuda::ptx from CUDA 12.9 on.
  if(WARP_BACKEND STREQUAL "simulator")
    list(FILTER sources EXCLUDE REGEX "_sm90\\.cu$")
  elseif(NOT CMAKE_CUDA_ARCHITECTURES MATCHES "^(90|100)a$" OR CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.9)
    list(FILTER sources EXCLUDE REGEX "_(sm90|hopper)\\.cu$")
  endif()
  list(PREPEND sources ${main})

  set(output ${CMAKE_CURRENT_BINARY_DIR}/${chapter})
  set(header ${output}/header.cpp)
  warp_header_source(${main} ${header})
  add_custom_target(${name}_header DEPENDS ${header}.stamp)

  if(WARP_BACKEND STREQUAL "gpu")
    set(programs ${name})
    add_executable(${name} ${sources})
    target_link_libraries(${name} PRIVATE lab)
    # The linker leaves cuBLAS out where the chapter does not call it.
    if(TARGET lab_cublas)
      target_link_libraries(${name} PRIVATE lab_cublas)
      target_link_options(${name} PRIVATE -Wl,--as-needed)
    endif()
    if(TARGET lab_cub)
      target_link_libraries(${name} PRIVATE lab_cub)
    endif()
    if(TARGET lab_cudnn)
      target_link_libraries(${name} PRIVATE lab_cudnn)
      target_link_options(${name} PRIVATE -Wl,--as-needed)
    endif()
    if(TARGET lab_nccl)
      target_link_libraries(${name} PRIVATE lab_nccl)
      target_link_options(${name} PRIVATE -Wl,--as-needed)
    endif()
  else()
    set(programs ${name} ${name}_fast)
    warp_simt_executable(${name} ${sources} OPTIONS --extended-lambda INCLUDES ${WARP_LAB_INCLUDES} LIBRARIES lab)
    warp_simt_executable(${name}_fast ${sources} FAST OPTIONS --extended-lambda INCLUDES ${WARP_LAB_INCLUDES} LIBRARIES lab)
    set_target_properties(${name}_fast PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  foreach(program IN LISTS programs)
    target_sources(${program} PRIVATE ${header} ${host_sources})
    add_dependencies(${program} ${name}_header)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${output})
  endforeach()
  # A chapter's own additions: libraries, options of single files.
  if(WARP_BACKEND STREQUAL "gpu" AND EXISTS ${folder}/gpu.cmake)
    include(${folder}/gpu.cmake)
  endif()
endfunction()
