#include "env/source.h"

#include <math.h>

static void note(pess__door *door, bool integer, double value) {
    if (!door->recording) return;
    if (door->recorded < door->record_capacity)
        door->record[door->recorded] = (pess_draw){.integer = integer, .value = value};
    door->recorded++;
}

/* The next draw of the tape if it fits; otherwise the fault is kept and the lowest value returned, so that the game
 * stays in a possible state. */
static double from_tape(pess__door *door, bool integer, double low, double high) {
    pess__tape_fault fault = PESS__TAPE_FINE;
    if (door->tape_used >= door->tape_length) {
        fault = PESS__TAPE_SHORT;
    } else {
        const pess_draw draw = door->tape[door->tape_used];
        if (draw.integer != integer) {
            fault = PESS__TAPE_KIND;
        } else if (!(draw.value >= low && draw.value <= high) || (integer && draw.value != floor(draw.value))) {
            fault = PESS__TAPE_RANGE;
        } else {
            door->tape_used++;
            return draw.value;
        }
    }
    if (door->fault == PESS__TAPE_FINE) door->fault = fault;
    return low;
}

double pess__door_uniform(pess__source *source) {
    pess__door *door = source->door;
    if (door == NULL) return pess__rng_uniform(&source->rng);
    const double below_one = 0x1.fffffffffffffp-1;
    double value = 0;
    if (door->tape != NULL)
        value = from_tape(door, false, 0, below_one);
    else
        value = door->numpy != NULL ? pess__numpy_uniform(door->numpy) : pess__rng_uniform(&source->rng);
    note(door, false, value);
    return value;
}

int pess__door_integer(pess__source *source, int low, int high) {
    pess__door *door = source->door;
    const int count = high - low + 1;
    if (door == NULL) return low + (int)pess__rng_below(&source->rng, (uint64_t)count);
    int value = 0;
    if (door->tape != NULL)
        value = (int)from_tape(door, true, low, high);
    else if (door->numpy != NULL)
        value = low + (int)pess__numpy_integer(door->numpy, (uint32_t)(high - low));
    else
        value = low + (int)pess__rng_below(&source->rng, (uint64_t)count);
    note(door, true, value);
    return value;
}
