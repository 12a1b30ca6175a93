/* Seaquest: a submarine shoots fish and submarines, picks up divers and has to come up for air. */
#include "env/board.h"

enum { GAME_CHANNELS = 10, FRONT = 0, BACK, FRIENDLY, TRAIL, ENEMY, FISH, ENEMY_SUB, OXYGEN, DIVERS, DIVER };
enum {
    MOST_OXYGEN = 200,
    MOST_ABOARD = 6,
    SPAWN_SPEED = 20,
    DIVER_SPEED = 30,
    MOVE_SPEED = 5,
    FASTEST_MOVE = 2,
    DIVER_MOVE = 5,
    OWN_SHOT_INTERVAL = 5,
    SHOT_INTERVAL = 10
};

/* The five lists, in order of creation, share the lanes of a few arrays of bytes: the list's first lane, and room for
 * the most that can be there at once. Friendly bullets are fired every 5 steps and fly 10; divers enter every 30 steps
 * and stay 60; at the end of the ramp one enemy a step enters and is gone after 30, having shot at most every 11 steps.
 */
enum { BULLETS, SAVED, SHOTS, SUBS, SHOAL, LISTS }; /* friendly bullets, divers, enemy bullets, enemy subs, fish */
static const int base[LISTS] = {0, 8, 16, 56, 96}, room[LISTS] = {8, 8, 40, 40, 40};
enum { LANES = 136, TOGETHER = 16 }; /* TOGETHER: lanes of a list that one vector holds */

typedef struct game_state {
    int32_t x, y;   /* the sub's front */
    int32_t facing; /* 1: right, -1: left */
    int32_t oxygen, aboard;
    int32_t spawn_speed, spawn_timer, diver_timer, move_speed;
    int32_t ramp_index, shot_timer, surfaced;
    int32_t count[LISTS];
    int8_t lane_x[LANES], lane_y[LANES];
    int8_t lane_dx[LANES];        /* 1: goes right, -1: left, 0: the lane is empty */
    uint8_t lane_timer[LANES];    /* steps until it moves; bullets move every step */
    uint8_t sub_shot[LANES - 96]; /* steps until sub i shoots */
} game_state;

/* An empty lane lies below the board, where it meets nothing and draws into padding bits. Bullets have a cell of their
 * own there, so that they do not meet the other empty lanes. */
enum { NOWHERE_Y = 10 };

PESS__INLINE void empty_lane(game_state *s, int list, int lane) {
    s->lane_x[lane] = list == BULLETS;
    s->lane_y[lane] = NOWHERE_Y;
    s->lane_dx[lane] = 0;
    s->lane_timer[lane] = 0;
}

static void game_reset(game_state *s, pess__source *source, bool fast) {
    (void)source, (void)fast;
    memset(s, 0, sizeof *s);
    s->x = 5;
    s->facing = -1;
    s->oxygen = MOST_OXYGEN;
    s->spawn_speed = s->spawn_timer = SPAWN_SPEED;
    s->diver_timer = DIVER_SPEED;
    s->move_speed = MOVE_SPEED;
    s->surfaced = 1;
    for (int lane = 0; lane < LANES; lane++) empty_lane(s, lane < base[SAVED] ? BULLETS : SAVED, lane);
    memset(s->sub_shot, SHOT_INTERVAL, sizeof s->sub_shot);
}

/* ---- lists */

static void take_out(game_state *s, int list, int i) {
    const int last = --s->count[list], from = base[list] + i;
    const size_t behind = (size_t)(last - i);
    memmove(s->lane_x + from, s->lane_x + from + 1, behind);
    memmove(s->lane_y + from, s->lane_y + from + 1, behind);
    memmove(s->lane_dx + from, s->lane_dx + from + 1, behind);
    memmove(s->lane_timer + from, s->lane_timer + from + 1, behind);
    empty_lane(s, list, base[list] + last);
    if (list != SUBS) return;
    memmove(s->sub_shot + i, s->sub_shot + i + 1, behind);
    s->sub_shot[last] = SHOT_INTERVAL;
}

PESS__INLINE void put_in(game_state *s, int list, int x, int y, bool right, int timer) {
    if (s->count[list] >= room[list]) return;
    const int lane = base[list] + s->count[list]++;
    s->lane_x[lane] = (int8_t)x;
    s->lane_y[lane] = (int8_t)y;
    s->lane_dx[lane] = right ? 1 : -1;
    s->lane_timer[lane] = (uint8_t)timer;
}

/* The first of the list on the cell, or -1. */
PESS__INLINE int first_at(const game_state *s, int list, int x, int y) {
    for (int i = 0, lane = base[list]; i < s->count[list]; i++, lane++)
        if (s->lane_x[lane] == x && s->lane_y[lane] == y) return i;
    return -1;
}

PESS__INLINE bool on_sub(const game_state *s, int lane) { return s->lane_x[lane] == s->x && s->lane_y[lane] == s->y; }
PESS__INLINE bool off_board(const game_state *s, int lane) { return s->lane_x[lane] < 0 || s->lane_x[lane] > 9; }
PESS__INLINE void advance(game_state *s, int lane) { s->lane_x[lane] = (int8_t)(s->lane_x[lane] + s->lane_dx[lane]); }

/* ---- spawning */

static bool someone_comes_towards(const game_state *s, int list, int y, bool right) {
    for (int i = 0, lane = base[list]; i < s->count[list]; i++, lane++)
        if (s->lane_y[lane] == y && (s->lane_dx[lane] > 0) != right) return true;
    return false;
}

PESS__INLINE void spawn_enemy(game_state *s, pess__source *source, bool fast) {
    const bool right = pess__draw_uniform(source, fast) < 0.5;
    const bool is_sub = pess__draw_uniform(source, fast) < 1.0 / 3;
    const int y = pess__draw_integer(source, 1, 8, fast);
    if (someone_comes_towards(s, SHOAL, y, right) || someone_comes_towards(s, SUBS, y, right)) return;
    put_in(s, is_sub ? SUBS : SHOAL, right ? 0 : 9, y, right, s->move_speed);
}

PESS__INLINE void spawn_diver(game_state *s, pess__source *source, bool fast) {
    const bool right = pess__draw_uniform(source, fast) < 0.5;
    const int y = pess__draw_integer(source, 1, 8, fast);
    put_in(s, SAVED, right ? 0 : 9, y, right, DIVER_MOVE);
}

/* ---- the parts of a step, in order */

PESS__INLINE void act(game_state *s, int action) {
    if (action == PESS__FIRE && s->shot_timer == 0) {
        put_in(s, BULLETS, s->x, s->y, s->facing > 0, 0);
        s->shot_timer = OWN_SHOT_INTERVAL;
    }
    const int dx = pess__action_dx(action);
    s->facing = dx + s->facing * (dx == 0);
    s->x = pess__step_within(s->x, dx, 0, 9);
    s->y = pess__step_within(s->y, pess__action_dy(action), 0, 8);
}

static int move_bullets(game_state *s) {
    int reward = 0;
    for (int i = s->count[BULLETS] - 1, lane = base[BULLETS] + i; i >= 0; i--, lane--) {
        advance(s, lane);
        bool spent = off_board(s, lane);
        for (int list = SHOAL; !spent && list >= SUBS; list--) { /* fish first, then subs */
            const int enemy = first_at(s, list, s->lane_x[lane], s->lane_y[lane]);
            if (enemy < 0) continue;
            take_out(s, list, enemy);
            spent = true;
            reward++;
        }
        if (spent) take_out(s, BULLETS, i);
    }
    return reward;
}

static void move_divers(game_state *s) {
    for (int i = s->count[SAVED] - 1, lane = base[SAVED] + i; i >= 0; i--, lane--) {
        bool aboard = on_sub(s, lane) && s->aboard < MOST_ABOARD, off = false;
        if (!aboard && s->lane_timer[lane] == 0) {
            s->lane_timer[lane] = DIVER_MOVE;
            advance(s, lane);
            off = off_board(s, lane);
            aboard = on_sub(s, lane) && s->aboard < MOST_ABOARD;
        } else if (!aboard) {
            s->lane_timer[lane]--;
        }
        s->aboard += aboard;
        if (aboard || off) take_out(s, SAVED, i);
    }
}

/* One fish or enemy sub: returns true where it is to be removed. */
PESS__INLINE bool move_enemy(game_state *s, int lane, int *reward, bool *terminal) {
    if (on_sub(s, lane)) *terminal = true;
    if (s->lane_timer[lane] != 0) {
        s->lane_timer[lane]--;
        return false;
    }
    s->lane_timer[lane] = (uint8_t)s->move_speed;
    advance(s, lane);
    if (off_board(s, lane)) return true;
    if (on_sub(s, lane)) {
        *terminal = true;
        return false;
    }
    const int bullet = first_at(s, BULLETS, s->lane_x[lane], s->lane_y[lane]);
    if (bullet < 0) return false;
    take_out(s, BULLETS, bullet);
    ++*reward;
    return true;
}

static int move_subs(game_state *s, bool *terminal) {
    int reward = 0;
    for (int i = s->count[SUBS] - 1, lane = base[SUBS] + i; i >= 0; i--, lane--) {
        const bool gone = move_enemy(s, lane, &reward, terminal);
        /* A sub that is gone still shoots; from beyond the edge the bullet would leave in the same step, unseen. */
        const bool shoots = s->sub_shot[i] == 0;
        if (shoots && !off_board(s, lane)) put_in(s, SHOTS, s->lane_x[lane], s->lane_y[lane], s->lane_dx[lane] > 0, 0);
        s->sub_shot[i] = shoots ? SHOT_INTERVAL : (uint8_t)(s->sub_shot[i] - 1);
        if (gone) take_out(s, SUBS, i);
    }
    return reward;
}

static void move_shots(game_state *s, bool *terminal) {
    for (int i = s->count[SHOTS] - 1, lane = base[SHOTS] + i; i >= 0; i--, lane--) {
        if (on_sub(s, lane)) *terminal = true;
        advance(s, lane);
        if (off_board(s, lane))
            take_out(s, SHOTS, i);
        else if (on_sub(s, lane))
            *terminal = true;
    }
}

static int move_fish(game_state *s, bool *terminal) {
    int reward = 0;
    for (int i = s->count[SHOAL] - 1, lane = base[SHOAL] + i; i >= 0; i--, lane--)
        if (move_enemy(s, lane, &reward, terminal)) take_out(s, SHOAL, i);
    return reward;
}

/* Everything that moves by itself, one list after the other. */
static __attribute__((noinline)) int move_in_order(game_state *s, bool *terminal) {
    int reward = move_bullets(s);
    move_divers(s);
    reward += move_subs(s, terminal);
    move_shots(s, terminal);
    reward += move_fish(s, terminal);
    return reward;
}

/* ---- the same, all at once, for the steps in which nothing meets anything */

typedef int8_t lanes __attribute__((vector_size(TOGETHER)));

PESS__INLINE lanes load(const void *from) {
    lanes value;
    memcpy(&value, from, sizeof value);
    return value;
}

PESS__INLINE lanes every(int value) { return (lanes){0} + (int8_t)value; }

PESS__INLINE bool some(lanes mask) {
    uint64_t half[2];
    memcpy(half, &mask, sizeof half);
    return (half[0] | half[1]) != 0;
}

typedef struct moved {
    lanes x, y, new_x, timer, due;
} moved;

PESS__INLINE moved move_lanes(const game_state *s, int lane, lanes reload) {
    moved m = {.x = load(s->lane_x + lane), .y = load(s->lane_y + lane), .timer = load(s->lane_timer + lane)};
    m.due = m.timer == 0;
    m.timer = (m.due & reload) | (~m.due & (m.timer - 1));
    m.new_x = m.x + (load(s->lane_dx + lane) & m.due);
    return m;
}

PESS__INLINE lanes leaves(const moved *m) { return (m->new_x < 0) | (m->new_x > 9); }
PESS__INLINE lanes meets(const moved *m, lanes x, lanes y) { return ((m->x == x) | (m->new_x == x)) & (m->y == y); }

PESS__INLINE void store(game_state *s, int lane, const moved *m) {
    memcpy(s->lane_x + lane, &m->new_x, sizeof m->new_x);
    memcpy(s->lane_timer + lane, &m->timer, sizeof m->timer);
}

/* True where everything has moved. False, with nothing changed, where something leaves the board, shoots, or comes near
 * the sub or a bullet, before or after its move: then the order matters. */
PESS__INLINE bool move_at_once(game_state *s) {
    const lanes friendly = {-1, -1, -1, -1, -1, -1, -1, -1}; /* bullets are the first eight lanes, then divers */
    const lanes speed = every(s->move_speed), x = every(s->x), y = every(s->y);
    const moved own = move_lanes(s, base[BULLETS], ~friendly & every(DIVER_MOVE));
    const moved shots = move_lanes(s, base[SHOTS], every(0));
    const moved subs = move_lanes(s, base[SUBS], speed), fish = move_lanes(s, base[SHOAL], speed);
    const lanes shot = load(s->sub_shot), present = load(s->lane_dx + base[SUBS]) != 0;
    lanes event = leaves(&own) | leaves(&shots) | leaves(&subs) | leaves(&fish) | ((shot == 0) & present);
    event |= (meets(&own, x, y) & ~friendly) | meets(&shots, x, y) | meets(&subs, x, y) | meets(&fish, x, y);
    for (int bullet = 0; bullet < 2; bullet++) {
        const lanes bullet_x = every(s->lane_x[bullet] + s->lane_dx[bullet]), bullet_y = every(s->lane_y[bullet]);
        event |= meets(&subs, bullet_x, bullet_y) | meets(&fish, bullet_x, bullet_y);
    }
    const bool many = (s->count[BULLETS] > 2) | (s->count[SHOTS] > TOGETHER) | (s->count[SUBS] > TOGETHER) |
                      (s->count[SHOAL] > TOGETHER);
    if (many || some(event)) return false;
    store(s, base[BULLETS], &own);
    store(s, base[SHOTS], &shots);
    store(s, base[SUBS], &subs);
    store(s, base[SHOAL], &fish);
    const lanes sooner = shot + present; /* a true lane is -1 */
    memcpy(s->sub_shot, &sooner, sizeof sooner);
    return true;
}

/* Tenths of the tank, rounded down. */
PESS__INLINE int oxygen_tenths(const game_state *s) {
    const int oxygen = s->oxygen & -(s->oxygen > 0);
    return oxygen * 10 / MOST_OXYGEN;
}

PESS__INLINE int surface(game_state *s, bool ramping) {
    int reward = 0;
    s->surfaced = 1;
    if (s->aboard == MOST_ABOARD) {
        reward = oxygen_tenths(s);
        s->aboard = 0;
    }
    s->oxygen = MOST_OXYGEN;
    s->aboard--;
    if (ramping && (s->spawn_speed > 1 || s->move_speed > FASTEST_MOVE)) {
        if (s->move_speed > FASTEST_MOVE && s->ramp_index % 2 != 0) s->move_speed--;
        if (s->spawn_speed > 1) s->spawn_speed--;
        s->ramp_index++;
    }
    return reward;
}

PESS__INLINE int breathe(game_state *s, bool ramping, bool *terminal) {
    if (s->oxygen <= 0) *terminal = true;
    if (s->y > 0) {
        s->oxygen--;
        s->surfaced = 0;
    } else if (s->surfaced == 0) {
        if (s->aboard != 0) return surface(s, ramping);
        *terminal = true;
    }
    return 0;
}

PESS__INLINE int game_step(game_state *s, pess__source *source, int action, bool ramping, bool fast, bool *terminal) {
    if (s->spawn_timer == 0) {
        spawn_enemy(s, source, fast);
        s->spawn_timer = s->spawn_speed;
    }
    if (s->diver_timer == 0) {
        spawn_diver(s, source, fast);
        s->diver_timer = DIVER_SPEED;
    }
    act(s, action);
    const int reward = move_at_once(s) ? 0 : move_in_order(s, terminal);
    s->spawn_timer -= s->spawn_timer > 0;
    s->diver_timer -= s->diver_timer > 0;
    s->shot_timer -= s->shot_timer > 0;
    return reward + breathe(s, ramping, terminal);
}

/* ---- the board */

PESS__INLINE unsigned cell(int x, int y) { return (unsigned)(y * 10 + x) * GAME_CHANNELS; }

PESS__INLINE void draw_lane(const game_state *s, int lane, unsigned channel, bool trails, pess__word *words) {
    const int x = s->lane_x[lane], y = s->lane_y[lane], behind = x - s->lane_dx[lane];
    pess__set_bit(words, cell(x, y) + channel);
    if (trails) pess__set_bit_if(words, cell(behind, y) + TRAIL, (behind >= 0) & (behind <= 9));
}

/* The first lanes are drawn whether they are empty or not: a loop that always runs as often costs less than one whose
 * end cannot be foreseen. */
PESS__INLINE void draw_list(const game_state *s, int list, int always, unsigned channel, bool trails,
                            pess__word *words) {
    for (int i = 0; i < always; i++) draw_lane(s, base[list] + i, channel, trails, words);
    for (int i = always; i < s->count[list]; i++) draw_lane(s, base[list] + i, channel, trails, words);
}

__extension__ typedef unsigned __int128 wide;

/* Row 9, columns [first,last) of a gauge. */
PESS__INLINE void draw_gauge(int first, int last, unsigned channel, pess__word *words) {
    const unsigned from = cell(0, 9);
    wide row = 0; /* one bit per column */
    for (int x = 0; x < 10; x++) row |= (wide)1 << cell(x, 0);
    row = row >> cell(first, 0) << cell(first, 0) & (((wide)1 << cell(last, 0)) - 1);
    row <<= from % 64 + channel;
    words[from / 64] |= (uint64_t)row;
    words[from / 64 + 1] |= (uint64_t)(row >> 64);
}

PESS__INLINE void game_draw(const game_state *s, pess__word *words) {
    for (int i = 0; i < PESS__WORDS; i++) words[i] = 0;
    pess__set_bit(words, cell(s->x, s->y) + FRONT);
    pess__set_bit(words, cell(s->x - s->facing, s->y) + BACK);
    draw_gauge(0, oxygen_tenths(s), OXYGEN, words);
    draw_gauge(9 - (s->aboard & -(s->aboard > 0)), 9, DIVERS, words);
    draw_list(s, BULLETS, 1, FRIENDLY, false, words);
    draw_list(s, SHOTS, 1, ENEMY, false, words);
    draw_list(s, SHOAL, 3, FISH, true, words);
    draw_list(s, SUBS, 2, ENEMY_SUB, true, words);
    draw_list(s, SAVED, 2, DIVER, true, words);
    words[PESS__WORDS - 1] &= ((uint64_t)1 << (1000 - 960)) - 1; /* what was drawn below the board */
}

/* ---- restored states */

static bool within(int value, int low, int high) { return value >= low && value <= high; }

static bool list_valid(const game_state *s, int list) {
    const int most = list == SAVED ? DIVER_MOVE : list >= SUBS ? MOVE_SPEED : 0;
    if (!within(s->count[list], 0, room[list])) return false;
    for (int i = 0, lane = base[list]; i < room[list]; i++, lane++) {
        const int x = s->lane_x[lane], y = s->lane_y[lane], dx = s->lane_dx[lane];
        if (i < s->count[list]) {
            if (!within(x, 0, 9) || !within(y, 0, 8) || (dx != 1 && dx != -1) || s->lane_timer[lane] > most)
                return false;
        } else if (x != (list == BULLETS) || y != NOWHERE_Y || dx != 0) {
            return false;
        }
    }
    return true;
}

static bool game_valid(const game_state *s) {
    bool fine = within(s->x, 0, 9) && within(s->y, 0, 8) && (s->facing == 1 || s->facing == -1) &&
                within(s->x - s->facing, 0, 9) && within(s->oxygen, -1, MOST_OXYGEN) && s->aboard <= MOST_ABOARD &&
                s->aboard > INT32_MIN / 2 && within(s->spawn_speed, 1, SPAWN_SPEED) &&
                within(s->spawn_timer, 0, SPAWN_SPEED) && within(s->diver_timer, 0, DIVER_SPEED) &&
                within(s->move_speed, FASTEST_MOVE, MOVE_SPEED) && within(s->ramp_index, 0, SPAWN_SPEED) &&
                within(s->shot_timer, 0, OWN_SHOT_INTERVAL) && within(s->surfaced, 0, 1);
    for (int list = 0; list < LISTS; list++) fine = fine && list_valid(s, list);
    for (int i = 0; fine && i < room[SUBS]; i++)
        fine = s->sub_shot[i] <= SHOT_INTERVAL && (i < s->count[SUBS] || s->sub_shot[i] == SHOT_INTERVAL);
    return fine;
}

#include "env/loop.h"

static const pess_env_channel channels[GAME_CHANNELS] = {
    {"sub front", 0x4ea1ff, '@', 9}, {"sub back", 0x2b6cb0, 'o', 8},     {"friendly bullet", 0xffffff, '-', 6},
    {"trail", 0x4b5563, '.', 0},     {"enemy bullet", 0xff8fab, '*', 7}, {"fish", 0x5bb98c, 'f', 4},
    {"enemy sub", 0xe4572e, 'E', 5}, {"oxygen gauge", 0x38bdf8, '=', 1}, {"diver gauge", 0xf6c445, '+', 2},
    {"diver", 0xf6c445, 'd', 3}};
static const uint8_t minimal[] = {PESS__NOTHING, PESS__LEFT, PESS__UP, PESS__RIGHT, PESS__DOWN, PESS__FIRE};

const pess__game pess__game_seaquest = {.info = {.name = "seaquest",
                                                 .summary = "shoot, save the divers, come up for air",
                                                 .rows = PESS__ROWS,
                                                 .cols = PESS__COLS,
                                                 .channels = GAME_CHANNELS,
                                                 .channel = channels,
                                                 .minimal_count = sizeof minimal,
                                                 .minimal = minimal,
                                                 .ramps = true},
                                        GAME_TABLE};
