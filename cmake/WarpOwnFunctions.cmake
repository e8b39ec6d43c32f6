# A static library whose inline functions are its own.
#
# libsimt.a and the program that links it both hold copies of inline functions and templates, of the standard library
# above all, and the linker keeps the first copy of each: the program's, which is traced. A hook of the simulator that
# called it would run hooks on a lane's stack. So the library is linked to one object, and in that the copies become local.
#
# Data stay common to both, as C++ has it: inline variables, static variables of inline functions, type information.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(warp_own_functions_script ${CMAKE_CURRENT_LIST_FILE})

  # warp_own_functions(TARGET [OBJECTS...]): does so with a STATIC library, each time that it is built. OBJECTS are the
  # OBJECT libraries in it.
  function(warp_own_functions target)
    # Where a program has the same inline variable, its definition counts; two unique ones would be one too many.
    foreach(part ${target} ${ARGN})
      target_compile_options(${part} PRIVATE -fno-gnu-unique)
    endforeach()
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -DLIBRARY=$<TARGET_FILE:${target}> -DLINKER=${CMAKE_LINKER} -DNM=${CMAKE_NM}
              -DOBJCOPY=${CMAKE_OBJCOPY} -DAR=${CMAKE_AR} -P ${warp_own_functions_script}
      COMMENT "The inline functions of ${target} become its own" VERBATIM)
  endfunction()
  return()
endif()

# What fails leaves no library behind, so that the next build makes it again.
file(RENAME ${LIBRARY} ${LIBRARY}.parts)
# --unique: the code of each file stays in one piece, as in a link of the parts. libdw has code without lines belong to
# what stands before it.
execute_process(COMMAND ${LINKER} -r --force-group-allocation --unique=.text* --whole-archive ${LIBRARY}.parts
                -o ${LIBRARY}.o COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${LIBRARY}.parts)
execute_process(COMMAND ${NM} --defined-only ${LIBRARY}.o OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
# Weak functions, and the tables of virtual ones. Names in C are not inline: whoever makes such a one weak means it.
string(REGEX MATCHALL " (W _Z|V _ZTV)[^\n]+" weak "${symbols}")
list(TRANSFORM weak REPLACE "^ . " "")
list(JOIN weak "\n" weak)
file(WRITE ${LIBRARY}.weak "${weak}\n")
execute_process(COMMAND ${OBJCOPY} --localize-symbols=${LIBRARY}.weak ${LIBRARY}.o COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${AR} rcs ${LIBRARY} ${LIBRARY}.o COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${LIBRARY}.weak ${LIBRARY}.o)
