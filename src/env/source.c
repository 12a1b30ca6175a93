#include "env/source.h"

#include <math.h>

static void note(pess__draw_hook *hook, bool integer, double value) {
    if (!hook->recording) return;
    if (hook->recorded < hook->record_capacity)
        hook->record[hook->recorded] = (pess_draw){.integer = integer, .value = value};
    hook->recorded++;
}

/* The next draw of the tape if it fits; otherwise the fault is kept and the lowest value returned, so that the game
 * stays in a possible state. */
static double from_tape(pess__draw_hook *hook, bool integer, double low, double high) {
    pess__tape_fault fault = PESS__TAPE_FINE;
    if (hook->tape_used >= hook->tape_length) {
        fault = PESS__TAPE_SHORT;
    } else {
        const pess_draw draw = hook->tape[hook->tape_used];
        if (draw.integer != integer) {
            fault = PESS__TAPE_KIND;
        } else if (!(draw.value >= low && draw.value <= high) || (integer && draw.value != floor(draw.value))) {
            fault = PESS__TAPE_RANGE;
        } else {
            hook->tape_used++;
            return draw.value;
        }
    }
    if (hook->fault == PESS__TAPE_FINE) hook->fault = fault;
    return low;
}

double pess__source_uniform(pess__source *source) {
    pess__draw_hook *hook = source->hook;
    if (hook == NULL) return pess__rng_uniform(&source->rng);
    const double below_one = 0x1.fffffffffffffp-1;
    double value = 0;
    if (hook->tape != NULL)
        value = from_tape(hook, false, 0, below_one);
    else
        value = hook->numpy != NULL ? pess__numpy_uniform(hook->numpy) : pess__rng_uniform(&source->rng);
    note(hook, false, value);
    return value;
}

int pess__source_integer(pess__source *source, int low, int high) {
    pess__draw_hook *hook = source->hook;
    const int count = high - low + 1;
    if (hook == NULL) return low + (int)pess__rng_below(&source->rng, (uint64_t)count);
    int value = 0;
    if (hook->tape != NULL)
        value = (int)from_tape(hook, true, low, high);
    else if (hook->numpy != NULL)
        value = low + (int)pess__numpy_integer(hook->numpy, (uint32_t)(high - low));
    else
        value = low + (int)pess__rng_below(&source->rng, (uint64_t)count);
    note(hook, true, value);
    return value;
}
