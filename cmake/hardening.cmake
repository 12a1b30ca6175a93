# What the compiler and the linker have against attackers: checks of the stack and of known sizes, marks for indirect jumps
# where the processor has them, no writable tables of addresses. Compiled so are the parts that read foreign bytes; numerical
# loops never see any. Sanitizers bring their own checks.
include(CheckCCompilerFlag)
set(PESS_HARDENED -Wno-unused-result -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2) # a cast to void says that a result is not used
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
  string(MAKE_C_IDENTIFIER "HAS${flag}" known)
  check_c_compiler_flag(${flag} ${known})
  if(${known})
    list(APPEND PESS_HARDENED ${flag})
  endif()
endforeach()
file(GLOB PESS_READERS CONFIGURE_DEPENDS src/core/*file*.c src/core/json*.c src/core/unpack.c src/core/bytes.c src/core/text.c
     src/data/*.c src/cells/*file*.c src/policy/*.c src/env/trace*.c src/nn/netfile.c src/nn/spec.c src/deep/bundle*.c
     src/deep/generations.c src/experiment/checkpoint.c src/model/*file*.c)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set_source_files_properties(${PESS_READERS} PROPERTIES COMPILE_OPTIONS "${PESS_HARDENED}")
endif()
include(CheckPIESupported)
check_pie_supported()
target_link_options(pess_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
