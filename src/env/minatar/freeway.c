/* Freeway: a chicken crosses eight lanes. The eight cars are moved together, one byte of a word each. */
#include "env/board.h"

enum { GAME_CHANNELS = 7, CHICKEN = 0, CAR, SPEED_1 };
enum { CARS = 8, FIRST_ROW = 1, COLUMN = 4, HOME = 9, MOVE_INTERVAL = 3, CLOCK = 2500 };

#define EACH 0x0101010101010101U /* a one in every byte */

typedef struct game_state {
    uint64_t column, timer, speed; /* byte i: car i on row i+1; speed without sign, 1 to 5 */
    uint64_t left;                 /* byte i: 1 where the car goes left */
    int32_t chicken;               /* row; its column is always 4 */
    int32_t move_timer, clock;
} game_state;

PESS__INLINE void randomise(game_state *s, pess__source *source, bool fast) {
    s->speed = s->left = 0;
    for (int i = 0; i < CARS; i++) s->speed |= (uint64_t)pess__draw_integer(source, 1, 5, fast) << (8 * i);
    for (int i = 0; i < CARS; i++) s->left |= (uint64_t)(pess__draw_uniform(source, fast) < 0.5) << (8 * i);
    s->timer = s->speed;
}

PESS__INLINE void game_reset(game_state *s, pess__source *source, bool fast) {
    *s = (game_state){.chicken = HOME, .move_timer = MOVE_INTERVAL, .clock = CLOCK};
    randomise(s, source, fast);
}

/* Is the car of the chicken's row, if there is one, on its cell? */
PESS__INLINE bool hit(const game_state *s) {
    const int row = s->chicken - FIRST_ROW;
    return row < CARS && ((s->column >> (8 * row)) & 0xff) == COLUMN;
}

/* Cars whose timer is 0 start it again and move one column, wrapping round; the others count down. */
PESS__INLINE void move_cars(game_state *s) {
    const uint64_t due = ~((s->timer + 0x7f * EACH) >> 7) & EACH; /* 1 in the bytes that are 0; timers are below 128 */
    s->timer += due * 0xff & (s->speed);
    s->timer -= EACH ^ due;
    uint64_t column = s->column + due + ((due & s->left) << 3); /* one to the left is nine to the right */
    const uint64_t over = ((column + (128 - 10) * EACH) >> 7) & EACH;
    column -= over * 10;
    s->column = column;
}

PESS__INLINE int game_step(game_state *s, pess__source *source, int action, bool ramping, bool fast, bool *terminal) {
    (void)ramping;
    int reward = 0;
    if (s->move_timer == 0 && (action == PESS__UP || action == PESS__DOWN)) {
        s->move_timer = MOVE_INTERVAL;
        s->chicken += action == PESS__UP ? -1 : s->chicken < HOME;
        if (s->chicken == 0) {
            reward = 1;
            randomise(s, source, fast);
            s->chicken = HOME;
        }
    }
    /* Only the car of the chicken's row can hit it, before or after its move; at home on row 9 there are no cars. So
     * the order of the cars does not matter. */
    const bool hit_before = hit(s);
    move_cars(s);
    if (hit_before || hit(s)) s->chicken = HOME;
    s->move_timer -= s->move_timer > 0;
    *terminal = --s->clock < 0;
    return reward;
}

PESS__INLINE void game_draw(const game_state *s, pess__word *words) {
    for (int i = 0; i < 11; i++) words[i] = 0;
    pess__set_bit(words, (unsigned)(s->chicken * 10 + COLUMN) * GAME_CHANNELS + CHICKEN);
    /* Behind: one to the right of cars that go left, nine to the right (one to the left) of the others. */
    uint64_t behind = s->column + 9 * EACH - (s->left << 3);
    behind -= (((behind + (128 - 10) * EACH) >> 7) & EACH) * 10;
    const uint64_t body = s->column * GAME_CHANNELS + CAR * EACH; /* within the row: at most 9*7 + 6 */
    const uint64_t trail = behind * GAME_CHANNELS + (SPEED_1 - 1) * EACH + s->speed;
    for (unsigned i = 0; i < CARS; i++) {
        const unsigned row = (i + FIRST_ROW) * 10 * GAME_CHANNELS;
        pess__set_bit(words, row + (unsigned)((body >> (8 * i)) & 0xff));
        pess__set_bit(words, row + (unsigned)((trail >> (8 * i)) & 0xff));
    }
}

static bool game_valid(const game_state *s) {
    bool fine = s->chicken >= 1 && s->chicken <= HOME && s->move_timer >= 0 && s->move_timer <= MOVE_INTERVAL &&
                s->clock >= -1 && s->clock <= CLOCK;
    for (int i = 0; i < 8 * CARS; i += 8) {
        const unsigned column = (s->column >> i) & 0xff, timer = (s->timer >> i) & 0xff;
        const unsigned speed = (s->speed >> i) & 0xff, left = (s->left >> i) & 0xff;
        fine = fine && column <= 9 && speed >= 1 && speed <= 5 && timer <= speed && left <= 1;
    }
    return fine;
}

#include "env/loop.h"

static const pess_env_channel channels[GAME_CHANNELS] = {{"chicken", 0xffffff, '@', 6}, {"car", 0xe4572e, '#', 5},
                                                         {"speed 1", 0x1e3a5f, '1', 0}, {"speed 2", 0x27638a, '2', 1},
                                                         {"speed 3", 0x2f8fa3, '3', 2}, {"speed 4", 0x5bb98c, '4', 3},
                                                         {"speed 5", 0xb5d66b, '5', 4}};
static const uint8_t minimal[] = {PESS__NOTHING, PESS__UP, PESS__DOWN};

const pess__game PESS__VARIANT(pess__game_freeway) = {
    .info = {.name = "freeway",
             .summary = "bring the chicken across eight lanes of traffic",
             GAME_BOARD,
             .ramps = false},
    GAME_TABLE};
