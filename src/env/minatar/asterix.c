/* Asterix: one entity per row crosses the board; gold is collected, everything else kills. */
#include "env/board.h"

enum { GAME_CHANNELS = 4, PLAYER = 0, ENEMY, TRAIL, GOLD };
enum { SLOTS = 8, FIRST_ROW = 1, SPAWN_SPEED = 10, MOVE_SPEED = 5, RAMP_INTERVAL = 100 };

typedef struct game_state {
    int32_t x, y; /* player */
    int32_t spawn_speed, spawn_timer;
    int32_t move_speed, move_timer;
    int32_t ramp_timer, ramp_index;
    uint32_t present, right, gold; /* bit k: slot k, which lives on row k+1 */
    int32_t column[SLOTS];
} game_state;

PESS__INLINE void game_reset(game_state *s, pess__source *source, bool fast) {
    (void)source, (void)fast;
    *s = (game_state){.x = 5,
                      .y = 5,
                      .spawn_speed = SPAWN_SPEED,
                      .spawn_timer = SPAWN_SPEED,
                      .move_speed = MOVE_SPEED,
                      .move_timer = MOVE_SPEED,
                      .ramp_timer = RAMP_INTERVAL};
}

PESS__INLINE void spawn(game_state *s, pess__source *source, bool fast) {
    const bool right = pess__draw_uniform(source, fast) < 0.5;
    const bool gold = pess__draw_uniform(source, fast) < 1.0 / 3;
    uint32_t free = ~s->present & 0xff;
    if (free == 0) return;
    for (int skip = pess__draw_integer(source, 0, __builtin_popcount(free) - 1, fast); skip > 0; skip--)
        free &= free - 1;
    const uint32_t slot = free & (0 - free);
    s->present |= slot;
    s->right = right ? s->right | slot : s->right & ~slot;
    s->gold = gold ? s->gold | slot : s->gold & ~slot;
    s->column[__builtin_ctz(slot)] = right ? 0 : 9;
}

/* Slot k has met the player. */
PESS__INLINE int meet(game_state *s, uint32_t slot, bool *terminal) {
    if ((s->gold & slot) != 0) {
        s->present &= ~slot;
        return 1;
    }
    *terminal = true;
    return 0;
}

PESS__INLINE int move_entities(game_state *s, bool *terminal) {
    int reward = 0;
    for (uint32_t left = s->present; left != 0; left &= left - 1) {
        const int k = __builtin_ctz(left);
        const uint32_t slot = 1U << k;
        const int column = s->column[k] + ((s->right & slot) != 0 ? 1 : -1);
        if (column < 0 || column > 9) {
            s->present &= ~slot;
            continue;
        }
        s->column[k] = column;
        if (column == s->x && k + FIRST_ROW == s->y) reward += meet(s, slot, terminal);
    }
    return reward;
}

PESS__INLINE void ramp(game_state *s) {
    if (s->spawn_speed <= 1 && s->move_speed <= 1) return;
    if (s->ramp_timer >= 0) {
        s->ramp_timer--;
        return;
    }
    if (s->move_speed > 1 && s->ramp_index % 2 != 0) s->move_speed--;
    if (s->spawn_speed > 1) s->spawn_speed--;
    s->ramp_index++;
    s->ramp_timer = RAMP_INTERVAL;
}

PESS__INLINE int game_step(game_state *s, pess__source *source, int action, bool ramping, bool fast, bool *terminal) {
    int reward = 0;
    if (s->spawn_timer == 0) {
        spawn(s, source, fast);
        s->spawn_timer = s->spawn_speed;
    }
    s->x = pess__step_within(s->x, pess__action_dx(action), 0, 9);
    s->y = pess__step_within(s->y, pess__action_dy(action), 1, 8);
    const uint32_t here = 1U << (s->y - FIRST_ROW); /* only the slot of the player's row can be on his cell */
    if ((s->present & here) != 0 && s->column[s->y - FIRST_ROW] == s->x) reward += meet(s, here, terminal);
    if (s->move_timer == 0) {
        s->move_timer = s->move_speed;
        reward += move_entities(s, terminal);
    }
    s->spawn_timer--;
    s->move_timer--;
    if (ramping) ramp(s);
    return reward;
}

/* The 40 bits of slot k's row. */
PESS__INLINE uint64_t draw_row(const game_state *s, unsigned k) {
    const uint64_t there = (s->present >> k) & 1, gold = (s->gold >> k) & 1;
    const unsigned cell = 4 * (unsigned)s->column[k], right = (s->right >> k) & 1;
    const uint64_t body = there << (cell + ENEMY) << (GOLD - ENEMY) * gold;
    /* One column further along for those that go left, one back for the others; gone where off the board. */
    const uint64_t trail = (there << (cell + TRAIL + 4) >> 8 * right) & 0xffffffffffU;
    const uint64_t player = (uint64_t)(s->y == (int)k + FIRST_ROW) << (4 * s->x + PLAYER);
    return body | trail | player;
}

PESS__INLINE void game_draw(const game_state *s, pess__word *words) {
    uint64_t row[SLOTS + FIRST_ROW];
    for (unsigned k = 0; k < SLOTS; k++) row[k + FIRST_ROW] = draw_row(s, k);
    words[0] = row[1] << 40; /* row y begins at bit 40*y */
    words[1] = row[1] >> 24 | row[2] << 16 | row[3] << 56;
    words[2] = row[3] >> 8 | row[4] << 32;
    words[3] = row[4] >> 32 | row[5] << 8 | row[6] << 48;
    words[4] = row[6] >> 16 | row[7] << 24;
    words[5] = row[8];
    words[6] = 0;
}

static bool within(int value, int low, int high) { return value >= low && value <= high; }

static bool game_valid(const game_state *s) {
    bool fine = within(s->x, 0, 9) && within(s->y, 1, 8) && within(s->spawn_speed, 1, SPAWN_SPEED) &&
                within(s->spawn_timer, 0, SPAWN_SPEED) && within(s->move_speed, 1, MOVE_SPEED) &&
                within(s->move_timer, 0, MOVE_SPEED) && within(s->ramp_timer, -1, RAMP_INTERVAL) &&
                within(s->ramp_index, 0, SPAWN_SPEED + 2 * MOVE_SPEED) && s->present <= 0xff && s->right <= 0xff &&
                s->gold <= 0xff;
    for (int k = 0; k < SLOTS; k++) fine = fine && within(s->column[k], 0, 9);
    return fine;
}

#include "env/loop.h"

static const pess_env_channel channels[GAME_CHANNELS] = {
    {"player", 0x4ea1ff, '@', 3}, {"enemy", 0xe4572e, 'X', 2}, {"trail", 0x6b7280, '.', 0}, {"gold", 0xf6c445, '$', 1}};
static const uint8_t minimal[] = {PESS__NOTHING, PESS__LEFT, PESS__UP, PESS__RIGHT, PESS__DOWN};

const pess__game PESS__VARIANT(pess__game_asterix) = {
    .info = {.name = "asterix", .summary = "collect the gold, avoid the enemies", GAME_BOARD, .ramps = true},
    GAME_TABLE};
