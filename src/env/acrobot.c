/* Acrobot: two links, of which the joint between them is driven; swing the tip above the bar (Sutton 1996; equations of
 * Sutton & Barto's book, masses and lengths 1, centres of mass at 0.5, moments of inertia 1, g = 9.8):
 *
 *     d1 = m l_c² + m (l² + l_c² + 2 l l_c cos θ2) + 2I,     d2 = m (l_c² + l l_c cos θ2) + I
 *     φ2 = m l_c g cos(θ1 + θ2 − π/2)
 *     φ1 = −m l l_c θ2'² sin θ2 − 2 m l l_c θ2' θ1' sin θ2 + (m l_c + m l) g cos(θ1 − π/2) + φ2
 *     θ2'' = (τ + d2/d1 φ1 − m l l_c θ1'² sin θ2 − φ2) / (m l_c² + I − d2²/d1),     θ1'' = −(d2 θ2'' + φ1) / d1
 *
 * over 0.2 s by one step of the Runge-Kutta method of fourth order; angles wrap to ±π, velocities stay within ±4π and
 * ±9π. Reward −1 a step, 0 at the end, which is −cos θ1 − cos(θ1 + θ2) > 1. */
#include "env/control.h"

#include "env/acrobot.h"

#include <math.h>

#define PI 3.14159265358979323846

typedef struct acrobot {
    double s[PESS__ACROBOT_STATES];
} acrobot;

static void reset(const pess__rules *rules, pess__instance *instance) {
    (void)rules;
    acrobot *a = pess__state(instance);
    for (int i = 0; i < PESS__ACROBOT_STATES; i++) a->s[i] = pess__draw_between(instance, -0.1, 0.1);
}

/* One step of up to eight of them; lanes without one move from rest, and nobody looks. */
static void move(pess__instance *const instance[], const int64_t action[], int count, pess__step_result out[]) {
    double s[PESS__ACROBOT_STATES][PESS__ACROBOT_LANES] = {{0}}, torque[PESS__ACROBOT_LANES] = {0};
    bool above[PESS__ACROBOT_LANES];
    for (int lane = 0; lane < count; lane++) {
        const double *from = ((acrobot *)pess__state(instance[lane]))->s;
        for (int i = 0; i < PESS__ACROBOT_STATES; i++) s[i][lane] = from[i];
        torque[lane] = (double)(action[lane] - 1);
    }
    PESS__CHOOSE(pess__acrobot_move)(s, torque, above);
    for (int lane = 0; lane < count; lane++) {
        double *to = ((acrobot *)pess__state(instance[lane]))->s;
        for (int i = 0; i < PESS__ACROBOT_STATES; i++) to[i] = s[i][lane];
        out[lane] = (pess__step_result){.reward = above[lane] ? 0 : -1, .terminal = above[lane]};
    }
}

static pess__step_result step(const pess__rules *rules, pess__instance *instance, int64_t action) {
    (void)rules;
    pess__step_result result;
    move(&instance, &action, 1, &result);
    return result;
}

static void run(const pess__span *span) {
    for (int64_t first = span->first; first < span->last; first += PESS__ACROBOT_LANES) {
        const int64_t left = span->last - first;
        const int count = left < PESS__ACROBOT_LANES ? (int)left : PESS__ACROBOT_LANES;
        pess__instance *instance[PESS__ACROBOT_LANES];
        int64_t action[PESS__ACROBOT_LANES];
        pess__step_result result[PESS__ACROBOT_LANES];
        for (int lane = 0; lane < count; lane++) {
            instance[lane] = pess__control_instance(span, first + lane);
            action[lane] = span->actions[first + lane];
        }
        move(instance, action, count, result);
        for (int lane = 0; lane < count; lane++) pess__control_finish(span, instance[lane], first + lane, result[lane]);
    }
}

static void observe(const pess__rules *rules, const void *state, void *out) {
    (void)rules;
    const double *s = ((const acrobot *)state)->s;
    double sine[2], cosine[2];
    float *v = out;
    PESS__CHOOSE(pess__sines)(&s[PESS__ANGLE_1], sine, cosine);
    v[0] = (float)cosine[0], v[1] = (float)sine[0], v[2] = (float)cosine[1], v[3] = (float)sine[1];
    v[4] = (float)s[PESS__SPIN_1], v[5] = (float)s[PESS__SPIN_2];
}

static bool valid(const pess__rules *rules, const void *state) {
    (void)rules;
    const double *s = ((const acrobot *)state)->s;
    return fabs(s[PESS__ANGLE_1]) <= PI && fabs(s[PESS__ANGLE_2]) <= PI && fabs(s[PESS__SPIN_1]) <= 4 * PI &&
           fabs(s[PESS__SPIN_2]) <= 9 * PI;
}

static const pess_env_channel features[] = {{"cos of the first angle"},  {"sin of the first angle"},
                                            {"cos of the second angle"}, {"sin of the second angle"},
                                            {"first angular velocity"},  {"second angular velocity"}};
static const uint8_t actions[] = {0, 1, 2};
static const char *const action_names[] = {"torque -1", "nothing", "torque +1"};

PESS__CONTROL_RUN(acrobot, acrobot, run, .name = "acrobot", .summary = "swing two links above the bar",
                  .kind = PESS_OBSERVATION_FLOATS, .rows = 1, .cols = 1, .channels = 6, .channel = features,
                  .minimal_count = 3, .minimal = actions, .action_names = action_names, .step_limit = 500);
