/* Mountain car: a car in a valley, too weak to drive up (Moore 1990; equations of Sutton & Barto 2018, example 10.1):
 *
 *     v ← clip(v + 0.001 (a − 1) − 0.0025 cos 3x, ±0.07),     x ← clip(x + v, [−1.2, 0.6]); v = 0 at the left wall
 *
 * Reward −1 a step; the end is x ≥ 0.5. Starts at x in [−0.6, −0.4) and v = 0. */
#include "env/control.h"

#include <math.h>

typedef struct car {
    double x, v;
} car;

static void reset(const pess__rules *rules, pess__instance *instance) {
    (void)rules;
    *(car *)pess__state(instance) = (car){.x = pess__draw_between(instance, -0.6, -0.4)};
}

static pess__step_result step(const pess__rules *rules, pess__instance *instance, int64_t action) {
    (void)rules;
    car *s = pess__state(instance);
    s->v = fmin(fmax(s->v + 0.001 * (double)(action - 1) - 0.0025 * cos(3 * s->x), -0.07), 0.07);
    s->x = fmin(fmax(s->x + s->v, -1.2), 0.6);
    if (s->x <= -1.2 && s->v < 0) s->v = 0;
    return (pess__step_result){.reward = -1, .terminal = s->x >= 0.5};
}

static void observe(const pess__rules *rules, const void *state, void *out) {
    (void)rules;
    const car *s = state;
    float *v = out;
    v[0] = (float)s->x, v[1] = (float)s->v;
}

static bool valid(const pess__rules *rules, const void *state) {
    (void)rules;
    const car *s = state;
    return s->x >= -1.2 && s->x <= 0.6 && fabs(s->v) <= 0.07;
}

static const pess_env_channel features[] = {{"position"}, {"velocity"}};
static const uint8_t actions[] = {0, 1, 2};
static const char *const action_names[] = {"back", "nothing", "forward"};

PESS__CONTROL(mountain_car, car, .name = "mountain_car", .summary = "drive a weak car out of a valley",
              .kind = PESS_OBSERVATION_FLOATS, .rows = 1, .cols = 1, .channels = 2, .channel = features,
              .minimal_count = 3, .minimal = actions, .action_names = action_names, .step_limit = 200);
