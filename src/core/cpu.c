#include "core/cpu.h"

static bool portable_only = false;

void pess__cpu_portable_only(bool portable) { portable_only = portable; }

bool pess__cpu_wide(void) {
#ifdef PESS__HAS_WIDE
    /* these five came together, with Haswell and with Zen */
    return !portable_only && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}
