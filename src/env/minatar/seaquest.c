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

/* The five lists, each in order of creation, share the lanes of a few arrays of bytes. The first eight or sixteen of
 * each list lie in the first 64 lanes, which are moved together; what a long list has beyond that lies behind them.
 * Room for the most that can be there at once: friendly bullets are fired every 5 steps and fly 10; divers enter every
 * 30 steps and stay 60; at the end of the ramp one enemy a step enters and is gone after 30, having shot at most every
 * 11 steps. */
enum { BULLETS, SAVED, SHOTS, SUBS, SHOAL, LISTS }; /* friendly bullets, divers, enemy bullets, enemy subs, fish */
enum { TOGETHER = 64, LANES = 192 };                /* arrays of whole cache lines */
static const int16_t base[LISTS] = {0, 8, 16, 32, 48}, near[LISTS] = {8, 8, 16, 16, 16};
static const int16_t further[LISTS] = {0, 0, TOGETHER, TOGETHER + 24, TOGETHER + 48}, room[LISTS] = {8, 8, 40, 40, 40};

PESS__INLINE int lane_of(int list, int i) { return i < near[list] ? base[list] + i : further[list] + i - near[list]; }

typedef struct game_state {
    uint64_t taken; /* bit l: lane l of the first 64 is not empty */
    int32_t aboard;
    int16_t x, y;   /* the sub's front */
    int16_t facing; /* 1: right, -1: left */
    int16_t oxygen;
    int16_t spawn_speed, spawn_timer, diver_timer, move_speed;
    int16_t ramp_index, shot_timer, surfaced;
    int16_t count[LISTS];
    int16_t unused[10];
    int8_t lane_x[LANES], lane_y[LANES];
    int8_t lane_dx[LANES];     /* 1: goes right, -1: left, 0: the lane is empty */
    uint8_t lane_timer[LANES]; /* steps until it moves; bullets move every step */
    uint8_t lane_shot[LANES];  /* of enemy subs: steps until it shoots; otherwise 1 */
} game_state;

/* An empty lane lies on row 9, where it meets nothing; those of friendly bullets on row 10, where they do not meet the
 * other empty lanes either. */
PESS__INLINE int nowhere(int lane) { return lane < base[SAVED] ? 10 : 9; }

PESS__INLINE void take_lane(game_state *s, int lane, bool on) {
    const uint64_t bit = lane < TOGETHER ? (uint64_t)1 << lane : 0;
    s->taken = on ? s->taken | bit : s->taken & ~bit;
}

PESS__INLINE void empty_lane(game_state *s, int lane) {
    s->lane_x[lane] = 0;
    s->lane_y[lane] = (int8_t)nowhere(lane);
    s->lane_dx[lane] = 0;
    s->lane_timer[lane] = 0;
    s->lane_shot[lane] = 1;
    take_lane(s, lane, false);
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
    memset(s->lane_y, nowhere(base[SAVED]), sizeof s->lane_y);
    memset(s->lane_y, nowhere(base[BULLETS]), (size_t)near[BULLETS]);
    memset(s->lane_shot, 1, sizeof s->lane_shot);
}

/* ---- lists */

static void take_out(game_state *s, int list, int i) {
    const int last = --s->count[list];
    for (; i < last; i++) {
        const int to = lane_of(list, i), from = lane_of(list, i + 1);
        s->lane_x[to] = s->lane_x[from];
        s->lane_y[to] = s->lane_y[from];
        s->lane_dx[to] = s->lane_dx[from];
        s->lane_timer[to] = s->lane_timer[from];
        s->lane_shot[to] = s->lane_shot[from];
    }
    empty_lane(s, lane_of(list, last));
}

PESS__INLINE void put_in(game_state *s, int list, int x, int y, bool right, int timer, int shot) {
    if (s->count[list] >= room[list]) return;
    const int lane = lane_of(list, s->count[list]++);
    s->lane_x[lane] = (int8_t)x;
    s->lane_y[lane] = (int8_t)y;
    s->lane_dx[lane] = right ? 1 : -1;
    s->lane_timer[lane] = (uint8_t)timer;
    s->lane_shot[lane] = (uint8_t)shot;
    take_lane(s, lane, true);
}

/* The first of the list on the cell, or -1. */
PESS__INLINE int first_at(const game_state *s, int list, int x, int y) {
    for (int i = 0; i < s->count[list]; i++) {
        const int lane = lane_of(list, i);
        if (s->lane_x[lane] == x && s->lane_y[lane] == y) return i;
    }
    return -1;
}

/* Does one of the long lists reach beyond its first sixteen? (Or might: it is cheaper to ask all three at once.) */
PESS__INLINE bool long_lists(const game_state *s) { return (s->count[SHOTS] | s->count[SUBS] | s->count[SHOAL]) > 16; }

PESS__INLINE bool on_sub(const game_state *s, int lane) { return s->lane_x[lane] == s->x && s->lane_y[lane] == s->y; }
PESS__INLINE bool off_board(const game_state *s, int lane) { return s->lane_x[lane] < 0 || s->lane_x[lane] > 9; }
PESS__INLINE void advance(game_state *s, int lane) { s->lane_x[lane] = (int8_t)(s->lane_x[lane] + s->lane_dx[lane]); }
PESS__INLINE void count_down(int16_t *timer) { *timer = (int16_t)(*timer - (*timer > 0)); }

/* ---- spawning */

static bool someone_comes_towards(const game_state *s, int list, int y, bool right) {
    for (int i = 0; i < s->count[list]; i++) {
        const int lane = lane_of(list, i);
        if (s->lane_y[lane] == y && (s->lane_dx[lane] > 0) != right) return true;
    }
    return false;
}

PESS__INLINE void spawn_enemy(game_state *s, pess__source *source, bool fast) {
    const bool right = pess__draw_uniform(source, fast) < 0.5;
    const bool is_sub = pess__draw_uniform(source, fast) < 1.0 / 3;
    const int y = pess__draw_integer(source, 1, 8, fast);
    if (someone_comes_towards(s, SHOAL, y, right) || someone_comes_towards(s, SUBS, y, right)) return;
    put_in(s, is_sub ? SUBS : SHOAL, right ? 0 : 9, y, right, s->move_speed, is_sub ? SHOT_INTERVAL : 1);
}

PESS__INLINE void spawn_diver(game_state *s, pess__source *source, bool fast) {
    const bool right = pess__draw_uniform(source, fast) < 0.5;
    const int y = pess__draw_integer(source, 1, 8, fast);
    put_in(s, SAVED, right ? 0 : 9, y, right, DIVER_MOVE, 1);
}

/* ---- the parts of a step, in order */

PESS__INLINE void act(game_state *s, int action) {
    if (((action ^ PESS__FIRE) | s->shot_timer) == 0) { /* fire, with shot timer 0: one question */
        put_in(s, BULLETS, s->x, s->y, s->facing > 0, 0, 1);
        s->shot_timer = OWN_SHOT_INTERVAL;
    }
    const int dx = pess__action_dx(action);
    s->facing = (int16_t)(dx + s->facing * (dx == 0));
    s->x = (int16_t)pess__step_within(s->x, dx, 0, 9);
    s->y = (int16_t)pess__step_within(s->y, pess__action_dy(action), 0, 8);
}

static int move_bullets(game_state *s) {
    int reward = 0;
    for (int i = s->count[BULLETS] - 1; i >= 0; i--) {
        const int lane = lane_of(BULLETS, i);
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
    for (int i = s->count[SAVED] - 1; i >= 0; i--) {
        const int lane = lane_of(SAVED, i);
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
    for (int i = s->count[SUBS] - 1; i >= 0; i--) {
        const int lane = lane_of(SUBS, i);
        const bool gone = move_enemy(s, lane, &reward, terminal);
        /* A sub that is gone still shoots; from beyond the edge the bullet would leave in the same step, unseen. */
        const bool shoots = s->lane_shot[lane] == 0;
        if (shoots && !off_board(s, lane))
            put_in(s, SHOTS, s->lane_x[lane], s->lane_y[lane], s->lane_dx[lane] > 0, 0, 1);
        s->lane_shot[lane] = shoots ? SHOT_INTERVAL : (uint8_t)(s->lane_shot[lane] - 1);
        if (gone) take_out(s, SUBS, i);
    }
    return reward;
}

static void move_shots(game_state *s, bool *terminal) {
    for (int i = s->count[SHOTS] - 1; i >= 0; i--) {
        const int lane = lane_of(SHOTS, i);
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
    for (int i = s->count[SHOAL] - 1; i >= 0; i--)
        if (move_enemy(s, lane_of(SHOAL, i), &reward, terminal)) take_out(s, SHOAL, i);
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

enum { HALF = TOGETHER / 2 }; /* the first: bullets, divers, shots; the second: subs, fish */
typedef int8_t lanes __attribute__((vector_size(HALF)));

PESS__INLINE lanes load(const void *from) {
    lanes value;
    memcpy(&value, from, sizeof value);
    return value;
}

PESS__INLINE lanes every(int value) { return (lanes){0} + (int8_t)value; }

PESS__INLINE bool some(lanes mask) {
    uint64_t part[sizeof mask / 8];
    memcpy(part, &mask, sizeof mask);
    return (part[0] | part[1] | part[2] | part[3]) != 0;
}

typedef struct moved {
    lanes x, y, new_x, timer;
} moved;

PESS__INLINE moved move_lanes(const game_state *s, int lane, lanes reload) {
    moved m = {.x = load(s->lane_x + lane), .y = load(s->lane_y + lane), .timer = load(s->lane_timer + lane)};
    const lanes due = m.timer == 0;
    m.timer = (due & reload) | (~due & (m.timer - 1));
    m.new_x = m.x + (load(s->lane_dx + lane) & due);
    return m;
}

PESS__INLINE lanes leaves(const moved *m) { return (m->new_x < 0) | (m->new_x > 9); }
PESS__INLINE lanes meets(const moved *m, lanes x, lanes y) { return ((m->x == x) | (m->new_x == x)) & (m->y == y); }

PESS__INLINE void store(game_state *s, int lane, const moved *m) {
    memcpy(s->lane_x + lane, &m->new_x, sizeof m->new_x);
    memcpy(s->lane_timer + lane, &m->timer, sizeof m->timer);
}

/* True where everything has moved. False, with nothing changed, where something leaves the board, shoots, or comes near
 * the sub or a bullet, before or after its move: then the order matters. Only the most frequent of these, that the one
 * friendly bullet there is leaves, is dealt with here. */
PESS__INLINE bool move_at_once(game_state *s) {
    const lanes friendly = {-1, -1, -1, -1, -1, -1, -1, -1};
    const lanes divers_reload = {0,          0,          0,          0,          0,          0,
                                 0,          0,          DIVER_MOVE, DIVER_MOVE, DIVER_MOVE, DIVER_MOVE,
                                 DIVER_MOVE, DIVER_MOVE, DIVER_MOVE, DIVER_MOVE};
    const lanes x = every(s->x), y = every(s->y);
    const moved first = move_lanes(s, 0, divers_reload), enemies = move_lanes(s, HALF, every(s->move_speed));
    const lanes shot = load(s->lane_shot + HALF), present = load(s->lane_dx + HALF) != 0;
    const lanes bullet = {-1};
    const bool gone = (unsigned)(s->lane_x[0] + s->lane_dx[0]) > 9; /* the first bullet; an empty lane never */
    lanes event = (leaves(&first) & ~bullet) | leaves(&enemies) | (shot == 0) | (meets(&first, x, y) & ~friendly);
    event |= meets(&enemies, x, y);
    for (int i = 0; i < 2; i++) event |= meets(&enemies, every(s->lane_x[i] + s->lane_dx[i]), every(s->lane_y[i]));
    if ((int)(s->count[BULLETS] > 2 - gone) | (int)long_lists(s) | (int)some(event)) return false;
    store(s, 0, &first);
    store(s, HALF, &enemies);
    const lanes subs = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    const lanes sooner = shot + (present & subs); /* a true lane is -1 */
    memcpy(s->lane_shot + HALF, &sooner, sizeof sooner);
    if (gone) {
        s->count[BULLETS] = 0;
        empty_lane(s, base[BULLETS]);
    }
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
    *terminal |= s->oxygen <= 0;
    const bool below = s->y > 0;
    s->oxygen = (int16_t)(s->oxygen - below);
    s->surfaced = (int16_t)(s->surfaced & !below);
    if (__builtin_expect(below + s->surfaced, 1) != 0) return 0;
    if (s->aboard != 0) return surface(s, ramping);
    *terminal = true;
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
    count_down(&s->spawn_timer);
    count_down(&s->diver_timer);
    count_down(&s->shot_timer);
    return reward + breathe(s, ramping, terminal);
}

/* ---- the board */

PESS__INLINE unsigned cell(int x, int y) { return (unsigned)(y * 10 + x) * GAME_CHANNELS; }

PESS__INLINE void draw_lane(const game_state *s, int lane, unsigned channel, bool trails, pess__word *words) {
    const int8_t x = s->lane_x[lane], y = s->lane_y[lane], dx = s->lane_dx[lane];
    const unsigned place = cell(x, y), behind = (unsigned)(x - dx);
    pess__set_bit(words, place + channel);
    pess__set_bit_if(words, place - (unsigned)(GAME_CHANNELS * dx) + TRAIL, trails & (behind <= 9));
}

/* One loop over all lanes that are taken costs less than five whose ends cannot be foreseen. The tables have a row for
 * each eight of the first 64 lanes. */
PESS__INLINE void draw_lists(const game_state *s, pess__word *words) {
    static const uint8_t channel[8] = {FRIENDLY, DIVER, ENEMY, ENEMY, ENEMY_SUB, ENEMY_SUB, FISH, FISH};
    static const bool trails[8] = {false, true, false, false, true, true, true, true};
    for (uint64_t left = s->taken; left != 0; left &= left - 1) {
        const int lane = __builtin_ctzll(left);
        draw_lane(s, lane, channel[lane / 8], trails[lane / 8], words);
    }
    if (__builtin_expect(!long_lists(s), 1)) return;
    for (int list = SHOTS; list < LISTS; list++)
        for (int i = near[list]; i < s->count[list]; i++)
            draw_lane(s, lane_of(list, i), channel[base[list] / 8], trails[base[list] / 8], words);
}

/* Row 9: oxygen from column 0 on, divers up to column 8. The tables hold both gauges for each reading, as they lie in
 * the words from cell (0,9) on. */
__extension__ typedef unsigned __int128 wide;
enum { GAUGE_WORD = 900 / 64, GAUGE_SHIFT = 900 % 64 };
#define COLUMN(x) ((wide)1 << (GAME_CHANNELS * (x)))
#define COLUMNS_5 (COLUMN(0) | COLUMN(1) | COLUMN(2) | COLUMN(3) | COLUMN(4))
#define FIRST_COLUMNS(k) ((COLUMNS_5 | COLUMNS_5 << 50) & (COLUMN(k) - 1))
#define TENTHS(k) (FIRST_COLUMNS(k) << (GAUGE_SHIFT + OXYGEN))
#define ABOARD(k) ((FIRST_COLUMNS(9) ^ FIRST_COLUMNS(9 - (k))) << (GAUGE_SHIFT + DIVERS))
static const wide oxygen_gauge[11] = {TENTHS(0), TENTHS(1), TENTHS(2), TENTHS(3), TENTHS(4), TENTHS(5),
                                      TENTHS(6), TENTHS(7), TENTHS(8), TENTHS(9), TENTHS(10)};
static const wide diver_gauge[MOST_ABOARD + 1] = {ABOARD(0), ABOARD(1), ABOARD(2), ABOARD(3),
                                                  ABOARD(4), ABOARD(5), ABOARD(6)};

PESS__INLINE void game_draw(const game_state *s, pess__word *words) {
    const wide gauges = oxygen_gauge[oxygen_tenths(s)] | diver_gauge[s->aboard & -(s->aboard > 0)];
    for (int i = 0; i < GAUGE_WORD; i++) words[i] = 0;
    words[GAUGE_WORD] = (uint64_t)gauges;
    words[GAUGE_WORD + 1] = (uint64_t)(gauges >> 64);
    pess__set_bit(words, cell(s->x, s->y) + FRONT);
    pess__set_bit(words, cell(s->x - s->facing, s->y) + BACK);
    draw_lists(s, words);
}

/* ---- restored states */

static bool within(int value, int low, int high) { return value >= low && value <= high; }

static bool list_valid(const game_state *s, int list) {
    const int timer = list == SAVED ? DIVER_MOVE : list >= SUBS ? MOVE_SPEED : 0;
    if (!within(s->count[list], 0, room[list])) return false;
    for (int i = 0; i < room[list]; i++) {
        const int lane = lane_of(list, i), shot = s->lane_shot[lane];
        const int8_t x = s->lane_x[lane], y = s->lane_y[lane], dx = s->lane_dx[lane];
        bool fine = list == SUBS && i < s->count[list] ? shot <= SHOT_INTERVAL : shot == 1;
        if (i < s->count[list])
            fine = fine && within(x, 0, 9) && within(y, 0, 8) && (dx == 1 || dx == -1) && s->lane_timer[lane] <= timer;
        else
            fine = fine && x == 0 && y == nowhere(lane) && dx == 0;
        if (!fine) return false;
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
    uint64_t taken = 0;
    for (int list = 0; list < LISTS; list++) {
        fine = fine && list_valid(s, list);
        for (int i = 0; fine && i < s->count[list] && i < near[list]; i++) taken |= (uint64_t)1 << (base[list] + i);
    }
    return fine && s->taken == taken;
}

#include "env/loop.h"

static const pess_env_channel channels[GAME_CHANNELS] = {
    {"sub front", 0x4ea1ff, '@', 9}, {"sub back", 0x2b6cb0, 'o', 8},     {"friendly bullet", 0xffffff, '-', 6},
    {"trail", 0x4b5563, '.', 0},     {"enemy bullet", 0xff8fab, '*', 7}, {"fish", 0x5bb98c, 'f', 4},
    {"enemy sub", 0xe4572e, 'E', 5}, {"oxygen gauge", 0x38bdf8, '=', 1}, {"diver gauge", 0xf6c445, '+', 2},
    {"diver", 0xf6c445, 'd', 3}};
static const uint8_t minimal[] = {PESS__NOTHING, PESS__LEFT, PESS__UP, PESS__RIGHT, PESS__DOWN, PESS__FIRE};

const pess__game PESS__VARIANT(pess__game_seaquest) = {
    .info = {.name = "seaquest", .summary = "shoot, save the divers, come up for air", GAME_BOARD, .ramps = true},
    GAME_TABLE};
