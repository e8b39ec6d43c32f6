# The gpu backend: CUDA C++ through nvcc.
#
# Architectures: the machine's own where a GPU is present (with the suffix `a` on compute
# capability 9.0 and 10.0, whose special instructions need it), otherwise 90a if the installed nvcc
# knows it. Override with -DCMAKE_CUDA_ARCHITECTURES=...

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(_warp_architecture "")
  find_program(WARP_NVIDIA_SMI nvidia-smi)
  if(WARP_NVIDIA_SMI)
    execute_process(COMMAND ${WARP_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE _warp_capabilities ERROR_QUIET RESULT_VARIABLE _warp_status
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(_warp_status EQUAL 0 AND _warp_capabilities MATCHES "^([0-9]+)\\.([0-9]+)")
      set(_warp_architecture "${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
      if(_warp_architecture MATCHES "^(90|100)$")
        string(APPEND _warp_architecture "a")
      endif()
    endif()
  endif()
  if(_warp_architecture STREQUAL "")
    set(_warp_architecture 90a)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${_warp_architecture} CACHE STRING "CUDA architectures")
endif()

enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
  message(FATAL_ERROR "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old: the course needs CUDA 12.4 or newer")
endif()
find_package(CUDAToolkit REQUIRED)
# CMake 3.25 does not know that nvcc 12 and later take C++20.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
                    $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)
message(STATUS "CUDA ${CMAKE_CUDA_COMPILER_VERSION}, architectures: ${CMAKE_CUDA_ARCHITECTURES}")
