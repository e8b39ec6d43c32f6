# missing_image_gpu.cu holds a kernel for another GPU, so it cannot be compiled with the rest of the
# chapter: it is an object library of its own, for an architecture whose code this GPU does not run.
execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code
                OUTPUT_VARIABLE known OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX MATCHALL "[0-9]+" known "${known}")
set(other "")
foreach(candidate IN LISTS known)
  string(REGEX REPLACE "[0-9]$" "" major ${candidate})
  # Older than 8.0 is about to leave the compilers; machine code runs only within one major number.
  if(candidate GREATER_EQUAL 80 AND NOT "${CMAKE_CUDA_ARCHITECTURES}" MATCHES "(^|;)${major}[0-9]([^0-9]|$)")
    set(other ${candidate})
    break()
  endif()
endforeach()
if(NOT other)
  message(FATAL_ERROR "nvcc knows no architecture but the one it compiles for: missing_image needs another")
endif()

get_target_property(sources ${name} SOURCES)
list(FILTER sources EXCLUDE REGEX "missing_image_gpu\\.cu$")
set_target_properties(${name} PROPERTIES SOURCES "${sources}")
add_library(${name}_other_gpu OBJECT ${folder}/missing_image_gpu.cu)
set_target_properties(${name}_other_gpu PROPERTIES CUDA_ARCHITECTURES ${other}-real)
target_compile_definitions(${name}_other_gpu PRIVATE WARP_OTHER_ARCHITECTURE=${other})
target_link_libraries(${name} PRIVATE ${name}_other_gpu)
