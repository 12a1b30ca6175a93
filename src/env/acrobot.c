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

#include <math.h>

#define PI 3.14159265358979323846
#define GRAVITY 9.8
#define SECONDS 0.2
#define CENTRE 0.5 /* of mass, of a link of length 1 and mass 1 */
#define INERTIA 1.0

enum { ANGLE_1, ANGLE_2, SPIN_1, SPIN_2, STATES };

typedef struct acrobot {
    double s[STATES];
} acrobot;

static void reset(const pess__rules *rules, pess__instance *instance) {
    (void)rules;
    acrobot *a = pess__state(instance);
    for (int i = 0; i < STATES; i++) a->s[i] = pess__draw_between(instance, -0.1, 0.1);
}

/* ds/dt under the torque, as above. */
static void derivative(const double s[STATES], double torque, double out[STATES]) {
    const double cosine = cos(s[ANGLE_2]), sine = sin(s[ANGLE_2]), v1 = s[SPIN_1], v2 = s[SPIN_2];
    const double d1 = CENTRE * CENTRE + (1 + CENTRE * CENTRE + 2 * CENTRE * cosine) + 2 * INERTIA;
    const double d2 = CENTRE * CENTRE + CENTRE * cosine + INERTIA;
    const double phi2 = CENTRE * GRAVITY * cos(s[ANGLE_1] + s[ANGLE_2] - PI / 2);
    const double phi1 = -CENTRE * v2 * v2 * sine - 2 * CENTRE * v2 * v1 * sine +
                        (CENTRE + 1) * GRAVITY * cos(s[ANGLE_1] - PI / 2) + phi2;
    out[ANGLE_1] = v1;
    out[ANGLE_2] = v2;
    out[SPIN_2] =
        (torque + d2 / d1 * phi1 - CENTRE * v1 * v1 * sine - phi2) / (CENTRE * CENTRE + INERTIA - d2 * d2 / d1);
    out[SPIN_1] = -(d2 * out[SPIN_2] + phi1) / d1;
}

/* s ← s + h/6 (k1 + 2 k2 + 2 k3 + k4) */
static void integrate(double s[STATES], double torque) {
    static const double ahead[] = {0, SECONDS / 2, SECONDS / 2, SECONDS}, weight[] = {1, 2, 2, 1};
    double k[STATES] = {0}, sum[STATES] = {0};
    for (int stage = 0; stage < 4; stage++) {
        double at[STATES];
        for (int i = 0; i < STATES; i++) at[i] = s[i] + ahead[stage] * k[i];
        derivative(at, torque, k);
        for (int i = 0; i < STATES; i++) sum[i] += weight[stage] * k[i];
    }
    for (int i = 0; i < STATES; i++) s[i] += SECONDS / 6 * sum[i];
}

static double wrapped(double angle) {
    while (angle > PI) angle -= 2 * PI;
    while (angle < -PI) angle += 2 * PI;
    return angle;
}

static pess__step_result step(const pess__rules *rules, pess__instance *instance, int64_t action) {
    (void)rules;
    double *s = ((acrobot *)pess__state(instance))->s;
    integrate(s, (double)(action - 1));
    s[ANGLE_1] = wrapped(s[ANGLE_1]);
    s[ANGLE_2] = wrapped(s[ANGLE_2]);
    s[SPIN_1] = fmin(fmax(s[SPIN_1], -4 * PI), 4 * PI);
    s[SPIN_2] = fmin(fmax(s[SPIN_2], -9 * PI), 9 * PI);
    const bool above = -cos(s[ANGLE_1]) - cos(s[ANGLE_2] + s[ANGLE_1]) > 1;
    return (pess__step_result){.reward = above ? 0 : -1, .terminal = above};
}

static void observe(const pess__rules *rules, const void *state, void *out) {
    (void)rules;
    const double *s = ((const acrobot *)state)->s;
    float *v = out;
    v[0] = (float)cos(s[ANGLE_1]), v[1] = (float)sin(s[ANGLE_1]);
    v[2] = (float)cos(s[ANGLE_2]), v[3] = (float)sin(s[ANGLE_2]);
    v[4] = (float)s[SPIN_1], v[5] = (float)s[SPIN_2];
}

static bool valid(const pess__rules *rules, const void *state) {
    (void)rules;
    const double *s = ((const acrobot *)state)->s;
    return fabs(s[ANGLE_1]) <= PI && fabs(s[ANGLE_2]) <= PI && fabs(s[SPIN_1]) <= 4 * PI && fabs(s[SPIN_2]) <= 9 * PI;
}

static const pess_env_channel features[] = {{"cos of the first angle"},  {"sin of the first angle"},
                                            {"cos of the second angle"}, {"sin of the second angle"},
                                            {"first angular velocity"},  {"second angular velocity"}};
static const uint8_t actions[] = {0, 1, 2};
static const char *const action_names[] = {"torque -1", "nothing", "torque +1"};

PESS__CONTROL(acrobot, acrobot, .name = "acrobot", .summary = "swing two links above the bar",
              .kind = PESS_OBSERVATION_FLOATS, .rows = 1, .cols = 1, .channels = 6, .channel = features,
              .minimal_count = 3, .minimal = actions, .action_names = action_names, .step_limit = 500);
