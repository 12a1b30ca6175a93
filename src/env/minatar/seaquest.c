/* Seaquest: a submarine shoots fish and submarines, picks up divers and has to come up for air. */
#include "env/board.h"


enum { GAME_CHANNELS = 10, FRONT = 0, BACK, FRIENDLY, TRAIL, ENEMY, FISH, ENEMY_SUB, OXYGEN, DIVERS, DIVER };
enum {
    MOST_BULLETS = 8,
    MOST_DIVERS = 8,
    MOST_ENEMIES = 40, /* at the end of the ramp one a step enters and is gone after 30 */
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

typedef struct thing {
    int8_t x, y;
    uint8_t right;
    uint8_t timer; /* until it moves; bullets move every step */
} thing;

typedef struct game_state {
    int32_t x, y, right; /* the sub's front; right: it faces right */
    int32_t oxygen, aboard;
    int32_t spawn_speed, spawn_timer, diver_timer, move_speed;
    int32_t ramp_index, shot_timer, surfaced;
    int32_t bullet_count, enemy_bullet_count, fish_count, sub_count, diver_count;
    thing bullets[MOST_BULLETS], divers[MOST_DIVERS]; /* in order of creation, as all lists */
    thing fish[MOST_ENEMIES], subs[MOST_ENEMIES], enemy_bullets[MOST_ENEMIES];
    uint8_t sub_shot_timer[MOST_ENEMIES];
} game_state;

PESS__INLINE void game_reset(game_state *s, pess__source *source, bool fast) {
    (void)source, (void)fast;
    memset(s, 0, sizeof *s);
    s->x = 5;
    s->oxygen = MOST_OXYGEN;
    s->spawn_speed = s->spawn_timer = SPAWN_SPEED;
    s->diver_timer = DIVER_SPEED;
    s->move_speed = MOVE_SPEED;
    s->surfaced = 1;
}

/* ---- lists */

PESS__INLINE void take_out(thing *list, int32_t *count, int i) {
    (*count)--;
    for (int j = i; j < *count; j++) list[j] = list[j + 1];
}

static void take_out_sub(game_state *s, int i) {
    take_out(s->subs, &s->sub_count, i);
    for (int j = i; j < s->sub_count; j++) s->sub_shot_timer[j] = s->sub_shot_timer[j + 1];
}

PESS__INLINE void put_in(thing *list, int32_t *count, int most, thing new) {
    if (*count < most) list[(*count)++] = new;
}

/* The first of the list on the cell, or -1. */
PESS__INLINE int first_at(const thing *list, int count, int x, int y) {
    for (int i = 0; i < count; i++)
        if (list[i].x == x && list[i].y == y) return i;
    return -1;
}

PESS__INLINE bool on_sub(const game_state *s, const thing *t) { return t->x == s->x && t->y == s->y; }
PESS__INLINE bool off_board(const thing *t) { return t->x < 0 || t->x > 9; }
PESS__INLINE void advance(thing *t) { t->x = (int8_t)(t->x + (t->right != 0 ? 1 : -1)); }

/* ---- spawning */

static bool someone_comes_towards(const thing *list, int count, int y, bool right) {
    for (int i = 0; i < count; i++)
        if (list[i].y == y && (list[i].right != 0) != right) return true;
    return false;
}

PESS__INLINE void spawn_enemy(game_state *s, pess__source *source, bool fast) {
    const bool right = pess__draw_uniform(source, fast) < 0.5;
    const bool is_sub = pess__draw_uniform(source, fast) < 1.0 / 3;
    const int y = pess__draw_integer(source, 1, 8, fast);
    if (someone_comes_towards(s->fish, s->fish_count, y, right) ||
        someone_comes_towards(s->subs, s->sub_count, y, right))
        return;
    const thing new = {.x = right ? 0 : 9, .y = (int8_t)y, .right = right, .timer = (uint8_t)s->move_speed};
    if (!is_sub) {
        put_in(s->fish, &s->fish_count, MOST_ENEMIES, new);
    } else if (s->sub_count < MOST_ENEMIES) {
        s->sub_shot_timer[s->sub_count] = SHOT_INTERVAL;
        s->subs[s->sub_count++] = new;
    }
}

PESS__INLINE void spawn_diver(game_state *s, pess__source *source, bool fast) {
    const bool right = pess__draw_uniform(source, fast) < 0.5;
    const int y = pess__draw_integer(source, 1, 8, fast);
    put_in(s->divers, &s->diver_count, MOST_DIVERS,
           (thing){.x = right ? 0 : 9, .y = (int8_t)y, .right = right, .timer = DIVER_MOVE});
}

/* ---- the parts of a step, in order */

PESS__INLINE void act(game_state *s, int action) {
    if (action == PESS__FIRE && s->shot_timer == 0) {
        put_in(s->bullets, &s->bullet_count, MOST_BULLETS,
               (thing){.x = (int8_t)s->x, .y = (int8_t)s->y, .right = s->right != 0});
        s->shot_timer = OWN_SHOT_INTERVAL;
    }
    const int x = s->x + (action == PESS__RIGHT) - (action == PESS__LEFT);
    const int y = s->y + (action == PESS__DOWN) - (action == PESS__UP);
    s->right = action == PESS__RIGHT ? 1 : action == PESS__LEFT ? 0 : s->right;
    s->x = x < 0 ? 0 : x > 9 ? 9 : x;
    s->y = y < 0 ? 0 : y > 8 ? 8 : y;
}

PESS__INLINE int move_bullets(game_state *s) {
    int reward = 0;
    for (int i = s->bullet_count - 1; i >= 0; i--) {
        thing *b = &s->bullets[i];
        advance(b);
        bool spent = off_board(b);
        if (!spent) {
            const int fish = first_at(s->fish, s->fish_count, b->x, b->y);
            const int sub = fish < 0 ? first_at(s->subs, s->sub_count, b->x, b->y) : -1;
            if (fish >= 0) take_out(s->fish, &s->fish_count, fish);
            if (sub >= 0) take_out_sub(s, sub);
            spent = fish >= 0 || sub >= 0;
            reward += spent;
        }
        if (spent) take_out(s->bullets, &s->bullet_count, i);
    }
    return reward;
}

PESS__INLINE void move_divers(game_state *s) {
    for (int i = s->diver_count - 1; i >= 0; i--) {
        thing *d = &s->divers[i];
        bool gone = false;
        if (on_sub(s, d) && s->aboard < MOST_ABOARD) {
            gone = true;
            s->aboard++;
        } else if (d->timer == 0) {
            d->timer = DIVER_MOVE;
            advance(d);
            if (off_board(d)) {
                gone = true;
            } else if (on_sub(s, d) && s->aboard < MOST_ABOARD) {
                gone = true;
                s->aboard++;
            }
        } else {
            d->timer--;
        }
        if (gone) take_out(s->divers, &s->diver_count, i);
    }
}

/* One fish or enemy sub: returns true where it is to be removed. */
PESS__INLINE bool move_enemy(game_state *s, thing *e, int *reward, bool *terminal) {
    if (on_sub(s, e)) *terminal = true;
    if (e->timer != 0) {
        e->timer--;
        return false;
    }
    e->timer = (uint8_t)s->move_speed;
    advance(e);
    if (off_board(e)) return true;
    if (on_sub(s, e)) {
        *terminal = true;
        return false;
    }
    const int bullet = first_at(s->bullets, s->bullet_count, e->x, e->y);
    if (bullet < 0) return false;
    take_out(s->bullets, &s->bullet_count, bullet);
    ++*reward;
    return true;
}

PESS__INLINE int move_subs(game_state *s, bool *terminal) {
    int reward = 0;
    for (int i = s->sub_count - 1; i >= 0; i--) {
        thing e = s->subs[i];
        const uint8_t shot_timer = s->sub_shot_timer[i];
        const bool gone = move_enemy(s, &e, &reward, terminal);
        s->subs[i] = e;
        s->sub_shot_timer[i] = shot_timer == 0 ? SHOT_INTERVAL : (uint8_t)(shot_timer - 1);
        if (gone) take_out_sub(s, i);
        /* A sub that is gone still shoots; from beyond the edge the bullet would leave in the same step, unseen. */
        if (shot_timer == 0 && !off_board(&e))
            put_in(s->enemy_bullets, &s->enemy_bullet_count, MOST_ENEMIES,
                   (thing){.x = e.x, .y = e.y, .right = e.right});
    }
    return reward;
}

PESS__INLINE void move_enemy_bullets(game_state *s, bool *terminal) {
    for (int i = s->enemy_bullet_count - 1; i >= 0; i--) {
        thing *b = &s->enemy_bullets[i];
        if (on_sub(s, b)) *terminal = true;
        advance(b);
        if (off_board(b))
            take_out(s->enemy_bullets, &s->enemy_bullet_count, i);
        else if (on_sub(s, b))
            *terminal = true;
    }
}

PESS__INLINE int move_fish(game_state *s, bool *terminal) {
    int reward = 0;
    for (int i = s->fish_count - 1; i >= 0; i--)
        if (move_enemy(s, &s->fish[i], &reward, terminal)) take_out(s->fish, &s->fish_count, i);
    return reward;
}

/* Tenths of the tank, rounded down. */
PESS__INLINE int oxygen_tenths(const game_state *s) { return s->oxygen > 0 ? s->oxygen * 10 / MOST_OXYGEN : 0; }

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
    int reward = move_bullets(s);
    move_divers(s);
    reward += move_subs(s, terminal);
    move_enemy_bullets(s, terminal);
    reward += move_fish(s, terminal);
    s->spawn_timer -= s->spawn_timer > 0;
    s->diver_timer -= s->diver_timer > 0;
    s->shot_timer -= s->shot_timer > 0;
    return reward + breathe(s, ramping, terminal);
}

/* ---- the board */

PESS__INLINE unsigned cell(int x, int y) { return (unsigned)(y * 10 + x) * GAME_CHANNELS; }

PESS__INLINE void draw_list(const thing *list, int count, unsigned channel, bool trails, uint64_t *words) {
    for (int i = 0; i < count; i++) {
        const int x = list[i].x, y = list[i].y, behind = x + (list[i].right != 0 ? -1 : 1);
        pess__set_bit(words, cell(x, y) + channel);
        if (trails && behind >= 0 && behind <= 9) pess__set_bit(words, cell(behind, y) + TRAIL);
    }
}

PESS__INLINE void game_draw(const game_state *s, uint64_t *words) {
    for (int i = 0; i < PESS__WORDS; i++) words[i] = 0;
    pess__set_bit(words, cell(s->x, s->y) + FRONT);
    pess__set_bit(words, cell(s->x + (s->right != 0 ? -1 : 1), s->y) + BACK);
    const int tenths = oxygen_tenths(s);
    for (int x = 0; x < tenths; x++) pess__set_bit(words, cell(x, 9) + OXYGEN);
    for (int x = 9 - s->aboard; x < 9; x++) pess__set_bit(words, cell(x, 9) + DIVERS);
    draw_list(s->bullets, s->bullet_count, FRIENDLY, false, words);
    draw_list(s->enemy_bullets, s->enemy_bullet_count, ENEMY, false, words);
    draw_list(s->fish, s->fish_count, FISH, true, words);
    draw_list(s->subs, s->sub_count, ENEMY_SUB, true, words);
    draw_list(s->divers, s->diver_count, DIVER, true, words);
}

/* ---- restored states */

static bool within(int value, int low, int high) { return value >= low && value <= high; }

static bool list_valid(const thing *list, int count, int most, int timer) {
    if (!within(count, 0, most)) return false;
    for (int i = 0; i < count; i++)
        if (!within(list[i].x, 0, 9) || !within(list[i].y, 0, 8) || list[i].right > 1 || list[i].timer > timer)
            return false;
    return true;
}

static bool game_valid(const game_state *s) {
    bool fine = within(s->x, 0, 9) && within(s->y, 0, 8) && within(s->right, 0, 1) && !(s->x == 0 && s->right != 0) &&
                !(s->x == 9 && s->right == 0) && within(s->oxygen, -1, MOST_OXYGEN) && s->aboard <= MOST_ABOARD &&
                s->aboard > INT32_MIN / 2 && within(s->spawn_speed, 1, SPAWN_SPEED) &&
                within(s->spawn_timer, 0, SPAWN_SPEED) && within(s->diver_timer, 0, DIVER_SPEED) &&
                within(s->move_speed, FASTEST_MOVE, MOVE_SPEED) && within(s->ramp_index, 0, SPAWN_SPEED) &&
                within(s->shot_timer, 0, OWN_SHOT_INTERVAL) && within(s->surfaced, 0, 1) &&
                list_valid(s->bullets, s->bullet_count, MOST_BULLETS, 0) &&
                list_valid(s->divers, s->diver_count, MOST_DIVERS, DIVER_MOVE) &&
                list_valid(s->fish, s->fish_count, MOST_ENEMIES, MOVE_SPEED) &&
                list_valid(s->subs, s->sub_count, MOST_ENEMIES, MOVE_SPEED) &&
                list_valid(s->enemy_bullets, s->enemy_bullet_count, MOST_ENEMIES, 0);
    for (int i = 0; fine && i < s->sub_count; i++) fine = s->sub_shot_timer[i] <= SHOT_INTERVAL;
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
