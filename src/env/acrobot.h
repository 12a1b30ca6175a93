/* Acrobot's motion, eight of them at a time (vectors leave no translation unit, so lanes are arrays of doubles). */
#ifndef PESS_ENV_ACROBOT_H
#define PESS_ENV_ACROBOT_H

#include "core/cpu.h"

#include <stdbool.h>

enum { PESS__ANGLE_1, PESS__ANGLE_2, PESS__SPIN_1, PESS__SPIN_2, PESS__ACROBOT_STATES, PESS__ACROBOT_LANES = 8 };

/* One step of each lane: its state moves on under its torque; is the tip above the line? */
PESS__TWICE(void, pess__acrobot_move,
            (double s[PESS__ACROBOT_STATES][PESS__ACROBOT_LANES], const double torque[PESS__ACROBOT_LANES],
             bool above[PESS__ACROBOT_LANES]));

/* Sine and cosine of two angles of some turns at most, to a unit or two in the last place. */
PESS__TWICE(void, pess__sines, (const double angle[2], double sine[2], double cosine[2]));

#endif
