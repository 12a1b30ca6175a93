/* CartPole: a pole on a cart that is pushed left or right (Barto, Sutton & Anderson 1983, without friction, as in
 * Gymnasium's CartPole-v1). With force F, mass of the pole m, of both M, half the pole's length l:
 *
 *     temp = (F + m l θ'² sin θ) / M
 *     θ'' = (g sin θ − cos θ · temp) / (l (4/3 − m cos² θ / M)),     x'' = temp − m l θ'' cos θ / M
 *
 * and one step of Euler of 0.02 s. Reward 1 a step; the end is |x| > 2.4 or |θ| > 12°. */
#include "env/control.h"

#include <math.h>

#define GRAVITY 9.8
#define POLE_MASS 0.1
#define TOTAL_MASS (1.0 + POLE_MASS)
#define HALF_LENGTH 0.5
#define FORCE 10.0
#define SECONDS 0.02
#define FAR 2.4
#define TILTED (12 * 2 * 3.14159265358979323846 / 360)

typedef struct cartpole {
    double x, velocity, angle, spin;
} cartpole;

static void reset(const pess__rules *rules, pess__instance *instance) {
    (void)rules;
    cartpole *s = pess__state(instance);
    s->x = pess__draw_between(instance, -0.05, 0.05);
    s->velocity = pess__draw_between(instance, -0.05, 0.05);
    s->angle = pess__draw_between(instance, -0.05, 0.05);
    s->spin = pess__draw_between(instance, -0.05, 0.05);
}

static pess__step_result step(const pess__rules *rules, pess__instance *instance, int64_t action) {
    (void)rules;
    cartpole *s = pess__state(instance);
    const double force = action == 1 ? FORCE : -FORCE, cosine = cos(s->angle), sine = sin(s->angle);
    const double temp = (force + POLE_MASS * HALF_LENGTH * s->spin * s->spin * sine) / TOTAL_MASS;
    const double turning =
        (GRAVITY * sine - cosine * temp) / (HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * cosine * cosine / TOTAL_MASS));
    const double pushing = temp - POLE_MASS * HALF_LENGTH * turning * cosine / TOTAL_MASS;
    s->x += SECONDS * s->velocity;
    s->velocity += SECONDS * pushing;
    s->angle += SECONDS * s->spin;
    s->spin += SECONDS * turning;
    return (pess__step_result){.reward = 1, .terminal = fabs(s->x) > FAR || fabs(s->angle) > TILTED};
}

static void observe(const pess__rules *rules, const void *state, void *out) {
    (void)rules;
    const cartpole *s = state;
    float *v = out;
    v[0] = (float)s->x, v[1] = (float)s->velocity, v[2] = (float)s->angle, v[3] = (float)s->spin;
}

static bool valid(const pess__rules *rules, const void *state) {
    (void)rules;
    const cartpole *s = state;
    return isfinite(s->x) && isfinite(s->velocity) && isfinite(s->angle) && isfinite(s->spin);
}

static const pess_env_channel features[] = {
    {"position"}, {"velocity"}, {"angle of the pole"}, {"angular velocity of the pole"}};
static const uint8_t actions[] = {0, 1};
static const char *const action_names[] = {"left", "right"};

PESS__CONTROL(cartpole, cartpole, .name = "cartpole", .summary = "keep a pole upright on a cart",
              .kind = PESS_OBSERVATION_FLOATS, .rows = 1, .cols = 1, .channels = 4, .channel = features,
              .minimal_count = 2, .minimal = actions, .action_names = action_names, .step_limit = 500);
