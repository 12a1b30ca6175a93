/* Loops that gain from newer instructions are compiled twice: for every processor of the architecture, and for those
 * with AVX2 ("wide"); which one runs is decided at run time, and both give the same bytes.
 *
 * A file that is listed in PESS_TWICE (CMakeLists.txt) defines what it exports as PESS__VARIANT(name). Its header
 * declares both with PESS__TWICE(type, name, (parameters)), and callers write PESS__CHOOSE(name)(arguments). */
#ifndef PESS_CORE_CPU_H
#define PESS_CORE_CPU_H

#include <stdbool.h>

#ifdef PESS__COMPILED_WIDE
#define PESS__VARIANT(name) name##_wide
#else
#define PESS__VARIANT(name) name##_portable
#endif

#ifdef PESS__HAS_WIDE
#define PESS__CHOOSE(name) (pess__cpu_wide() ? name##_wide : name##_portable)
#else
#define PESS__CHOOSE(name) name##_portable
#endif
#define PESS__TWICE(type, name, parameters)                                                                            \
    type name##_portable parameters;                                                                                   \
    type name##_wide parameters

bool pess__cpu_wide(void); /* may the wide variants run here? */
/* For tests: from now on the portable variants alone, or again the best ones that the processor can run. Not while
 * another thread computes. */
void pess__cpu_portable_only(bool portable);

#endif
