/* A gridworld seen as a picture: 8 × 8 places of 2 × 2 pixels, three channels. The walker (red) is to reach the goal
 * (green) and to keep off the pits (blue); all are placed anew in every episode. Up, right, down or left; at an edge it
 * stays. Reward 1 at the goal, which is the end; −1 in a pit, which is too; −0.01 a step otherwise. */
#include "env/control.h"

#include <string.h>

enum { SIDE = 8, PLACES = SIDE * SIDE, ZOOM = 2, PIXELS = SIDE * ZOOM, CHANNELS = 3, PITS = 4, THINGS = 2 + PITS };

/* Places, all different at the start: walker, goal, pits. */
typedef struct grid {
    int32_t place[THINGS];
} grid;

static bool taken(const grid *g, int count, int32_t place) {
    for (int i = 0; i < count; i++)
        if (g->place[i] == place) return true;
    return false;
}

static void reset(const pess__rules *rules, pess__instance *instance) {
    (void)rules;
    grid *g = pess__state(instance);
    for (int i = 0; i < THINGS; i++) { /* the first free place from a random one on */
        int32_t place = pess__draw_integer(&instance->source, 0, PLACES - 1, false);
        while (taken(g, i, place)) place = (place + 1) % PLACES;
        g->place[i] = place;
    }
}

static int32_t moved(int32_t place, int64_t action) {
    const int32_t y = place / SIDE, x = place % SIDE;
    switch (action) {
        case 0: return y > 0 ? place - SIDE : place;
        case 1: return x < SIDE - 1 ? place + 1 : place;
        case 2: return y < SIDE - 1 ? place + SIDE : place;
        default: return x > 0 ? place - 1 : place;
    }
}

static pess__step_result step(const pess__rules *rules, pess__instance *instance, int64_t action) {
    (void)rules;
    grid *g = pess__state(instance);
    g->place[0] = moved(g->place[0], action);
    if (g->place[0] == g->place[1]) return (pess__step_result){.reward = 1, .terminal = true};
    for (int i = 2; i < THINGS; i++)
        if (g->place[0] == g->place[i]) return (pess__step_result){.reward = -1, .terminal = true};
    return (pess__step_result){.reward = -0.01};
}

static void observe(const pess__rules *rules, const void *state, void *out) {
    const grid *g = state;
    uint8_t *pixels = out;
    memset(pixels, 0, (size_t)rules->bytes);
    for (int i = 0; i < THINGS; i++) {
        const int channel = i < 2 ? i : 2, y = g->place[i] / SIDE * ZOOM, x = g->place[i] % SIDE * ZOOM;
        for (int k = 0; k < ZOOM * ZOOM; k++)
            pixels[((y + k / ZOOM) * PIXELS + x + k % ZOOM) * CHANNELS + channel] = 255;
    }
}

static bool valid(const pess__rules *rules, const void *state) {
    (void)rules;
    const grid *g = state;
    for (int i = 0; i < THINGS; i++)
        if (g->place[i] < 0 || g->place[i] >= PLACES) return false;
    return true;
}

static const pess_env_channel channels[] = {{"red: the walker"}, {"green: the goal"}, {"blue: pits"}};
static const uint8_t actions[] = {0, 1, 2, 3};
static const char *const action_names[] = {"up", "right", "down", "left"};

PESS__CONTROL(pixel_grid, grid, .name = "pixel_grid", .summary = "a gridworld seen as a picture of 16 × 16 pixels",
              .kind = PESS_OBSERVATION_BYTES, .rows = PIXELS, .cols = PIXELS, .channels = CHANNELS, .channel = channels,
              .minimal_count = 4, .minimal = actions, .action_names = action_names, .step_limit = 100);
