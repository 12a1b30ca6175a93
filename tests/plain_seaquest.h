/* Seaquest written down as the rules are: lists of things, one loop each. The fast one is checked against it. Included
 * after env/minatar/seaquest.c, whose constants it shares. */
#ifndef TESTS_PLAIN_SEAQUEST_H
#define TESTS_PLAIN_SEAQUEST_H

enum { PLAIN_ROOM = 64 };
typedef struct plain_thing {
    int8_t x, y;
    uint8_t right;
    uint8_t timer; /* until it moves; bullets move every step */
} plain_thing;

typedef struct plain_state {
    int32_t x, y, right; /* the sub's front; right: it faces right */
    int32_t oxygen, aboard;
    int32_t spawn_speed, spawn_timer, diver_timer, move_speed;
    int32_t ramp_index, shot_timer, surfaced;
    int32_t bullet_count, enemy_bullet_count, fish_count, sub_count, diver_count;
    plain_thing bullets[PLAIN_ROOM], divers[PLAIN_ROOM]; /* in order of creation, as all lists */
    plain_thing fish[PLAIN_ROOM], subs[PLAIN_ROOM], enemy_bullets[PLAIN_ROOM];
    uint8_t sub_shot_timer[PLAIN_ROOM];
} plain_state;

PESS__INLINE void plain_reset(plain_state *s, pess__source *source, bool fast) {
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

PESS__INLINE void plain_take_out(plain_thing *list, int32_t *count, int i) {
    (*count)--;
    for (int j = i; j < *count; j++) list[j] = list[j + 1];
}

static void plain_take_out_sub(plain_state *s, int i) {
    plain_take_out(s->subs, &s->sub_count, i);
    for (int j = i; j < s->sub_count; j++) s->sub_shot_timer[j] = s->sub_shot_timer[j + 1];
}

PESS__INLINE void plain_put_in(plain_thing *list, int32_t *count, int most, plain_thing new) {
    if (*count < most) list[(*count)++] = new;
}

/* The first of the list on the cell, or -1. */
PESS__INLINE int plain_first_at(const plain_thing *list, int count, int x, int y) {
    for (int i = 0; i < count; i++)
        if (list[i].x == x && list[i].y == y) return i;
    return -1;
}

PESS__INLINE bool plain_on_sub(const plain_state *s, const plain_thing *t) { return t->x == s->x && t->y == s->y; }
PESS__INLINE bool plain_off_board(const plain_thing *t) { return t->x < 0 || t->x > 9; }
PESS__INLINE void plain_advance(plain_thing *t) { t->x = (int8_t)(t->x + (t->right != 0 ? 1 : -1)); }

/* ---- spawning */

static bool plain_someone_comes_towards(const plain_thing *list, int count, int y, bool right) {
    for (int i = 0; i < count; i++)
        if (list[i].y == y && (list[i].right != 0) != right) return true;
    return false;
}

PESS__INLINE void plain_spawn_enemy(plain_state *s, pess__source *source, bool fast) {
    const bool right = pess__draw_uniform(source, fast) < 0.5;
    const bool is_sub = pess__draw_uniform(source, fast) < 1.0 / 3;
    const int y = pess__draw_integer(source, 1, 8, fast);
    if (plain_someone_comes_towards(s->fish, s->fish_count, y, right) ||
        plain_someone_comes_towards(s->subs, s->sub_count, y, right))
        return;
    const plain_thing new = {.x = right ? 0 : 9, .y = (int8_t)y, .right = right, .timer = (uint8_t)s->move_speed};
    if (!is_sub) {
        plain_put_in(s->fish, &s->fish_count, PLAIN_ROOM, new);
    } else if (s->sub_count < PLAIN_ROOM) {
        s->sub_shot_timer[s->sub_count] = SHOT_INTERVAL;
        s->subs[s->sub_count++] = new;
    }
}

PESS__INLINE void plain_spawn_diver(plain_state *s, pess__source *source, bool fast) {
    const bool right = pess__draw_uniform(source, fast) < 0.5;
    const int y = pess__draw_integer(source, 1, 8, fast);
    plain_put_in(s->divers, &s->diver_count, PLAIN_ROOM,
                 (plain_thing){.x = right ? 0 : 9, .y = (int8_t)y, .right = right, .timer = DIVER_MOVE});
}

/* ---- the parts of a step, in order */

PESS__INLINE void plain_act(plain_state *s, int action) {
    if (action == PESS__FIRE && s->shot_timer == 0) {
        plain_put_in(s->bullets, &s->bullet_count, PLAIN_ROOM,
                     (plain_thing){.x = (int8_t)s->x, .y = (int8_t)s->y, .right = s->right != 0});
        s->shot_timer = OWN_SHOT_INTERVAL;
    }
    const int x = s->x + (action == PESS__RIGHT) - (action == PESS__LEFT);
    const int y = s->y + (action == PESS__DOWN) - (action == PESS__UP);
    s->right = action == PESS__RIGHT ? 1 : action == PESS__LEFT ? 0 : s->right;
    s->x = x < 0 ? 0 : x > 9 ? 9 : x;
    s->y = y < 0 ? 0 : y > 8 ? 8 : y;
}

PESS__INLINE int plain_move_bullets(plain_state *s) {
    int reward = 0;
    for (int i = s->bullet_count - 1; i >= 0; i--) {
        plain_thing *b = &s->bullets[i];
        plain_advance(b);
        bool spent = plain_off_board(b);
        if (!spent) {
            const int fish = plain_first_at(s->fish, s->fish_count, b->x, b->y);
            const int sub = fish < 0 ? plain_first_at(s->subs, s->sub_count, b->x, b->y) : -1;
            if (fish >= 0) plain_take_out(s->fish, &s->fish_count, fish);
            if (sub >= 0) plain_take_out_sub(s, sub);
            spent = fish >= 0 || sub >= 0;
            reward += spent;
        }
        if (spent) plain_take_out(s->bullets, &s->bullet_count, i);
    }
    return reward;
}

PESS__INLINE void plain_move_divers(plain_state *s) {
    for (int i = s->diver_count - 1; i >= 0; i--) {
        plain_thing *d = &s->divers[i];
        bool gone = false;
        if (plain_on_sub(s, d) && s->aboard < MOST_ABOARD) {
            gone = true;
            s->aboard++;
        } else if (d->timer == 0) {
            d->timer = DIVER_MOVE;
            plain_advance(d);
            if (plain_off_board(d)) {
                gone = true;
            } else if (plain_on_sub(s, d) && s->aboard < MOST_ABOARD) {
                gone = true;
                s->aboard++;
            }
        } else {
            d->timer--;
        }
        if (gone) plain_take_out(s->divers, &s->diver_count, i);
    }
}

/* One fish or enemy sub: returns true where it is to be removed. */
PESS__INLINE bool plain_move_enemy(plain_state *s, plain_thing *e, int *reward, bool *terminal) {
    if (plain_on_sub(s, e)) *terminal = true;
    if (e->timer != 0) {
        e->timer--;
        return false;
    }
    e->timer = (uint8_t)s->move_speed;
    plain_advance(e);
    if (plain_off_board(e)) return true;
    if (plain_on_sub(s, e)) {
        *terminal = true;
        return false;
    }
    const int bullet = plain_first_at(s->bullets, s->bullet_count, e->x, e->y);
    if (bullet < 0) return false;
    plain_take_out(s->bullets, &s->bullet_count, bullet);
    ++*reward;
    return true;
}

PESS__INLINE int plain_move_subs(plain_state *s, bool *terminal) {
    int reward = 0;
    for (int i = s->sub_count - 1; i >= 0; i--) {
        plain_thing e = s->subs[i];
        const uint8_t shot_timer = s->sub_shot_timer[i];
        const bool gone = plain_move_enemy(s, &e, &reward, terminal);
        s->subs[i] = e;
        s->sub_shot_timer[i] = shot_timer == 0 ? SHOT_INTERVAL : (uint8_t)(shot_timer - 1);
        if (gone) plain_take_out_sub(s, i);
        if (shot_timer == 0) /* even if it was removed just now, and from beyond the edge */
            plain_put_in(s->enemy_bullets, &s->enemy_bullet_count, PLAIN_ROOM,
                         (plain_thing){.x = e.x, .y = e.y, .right = e.right});
    }
    return reward;
}

PESS__INLINE void plain_move_enemy_bullets(plain_state *s, bool *terminal) {
    for (int i = s->enemy_bullet_count - 1; i >= 0; i--) {
        plain_thing *b = &s->enemy_bullets[i];
        if (plain_on_sub(s, b)) *terminal = true;
        plain_advance(b);
        if (plain_off_board(b))
            plain_take_out(s->enemy_bullets, &s->enemy_bullet_count, i);
        else if (plain_on_sub(s, b))
            *terminal = true;
    }
}

PESS__INLINE int plain_move_fish(plain_state *s, bool *terminal) {
    int reward = 0;
    for (int i = s->fish_count - 1; i >= 0; i--)
        if (plain_move_enemy(s, &s->fish[i], &reward, terminal)) plain_take_out(s->fish, &s->fish_count, i);
    return reward;
}

/* Tenths of the tank, rounded down. */
PESS__INLINE int plain_oxygen_tenths(const plain_state *s) { return s->oxygen > 0 ? s->oxygen * 10 / MOST_OXYGEN : 0; }

PESS__INLINE int plain_surface(plain_state *s, bool ramping) {
    int reward = 0;
    s->surfaced = 1;
    if (s->aboard == MOST_ABOARD) {
        reward = plain_oxygen_tenths(s);
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

PESS__INLINE int plain_breathe(plain_state *s, bool ramping, bool *terminal) {
    if (s->oxygen <= 0) *terminal = true;
    if (s->y > 0) {
        s->oxygen--;
        s->surfaced = 0;
    } else if (s->surfaced == 0) {
        if (s->aboard != 0) return plain_surface(s, ramping);
        *terminal = true;
    }
    return 0;
}

PESS__INLINE int plain_step(plain_state *s, pess__source *source, int action, bool ramping, bool fast, bool *terminal) {
    if (s->spawn_timer == 0) {
        plain_spawn_enemy(s, source, fast);
        s->spawn_timer = s->spawn_speed;
    }
    if (s->diver_timer == 0) {
        plain_spawn_diver(s, source, fast);
        s->diver_timer = DIVER_SPEED;
    }
    plain_act(s, action);
    int reward = plain_move_bullets(s);
    plain_move_divers(s);
    reward += plain_move_subs(s, terminal);
    plain_move_enemy_bullets(s, terminal);
    reward += plain_move_fish(s, terminal);
    s->spawn_timer -= s->spawn_timer > 0;
    s->diver_timer -= s->diver_timer > 0;
    s->shot_timer -= s->shot_timer > 0;
    return reward + plain_breathe(s, ramping, terminal);
}

/* ---- the board */

PESS__INLINE unsigned plain_cell(int x, int y) { return (unsigned)(y * 10 + x) * GAME_CHANNELS; }

PESS__INLINE void plain_draw_list(const plain_thing *list, int count, unsigned channel, bool trails, uint64_t *words) {
    for (int i = 0; i < count; i++) {
        const int x = list[i].x, y = list[i].y, behind = x + (list[i].right != 0 ? -1 : 1);
        pess__set_bit(words, plain_cell(x, y) + channel);
        if (trails && behind >= 0 && behind <= 9) pess__set_bit(words, plain_cell(behind, y) + TRAIL);
    }
}

PESS__INLINE void plain_draw(const plain_state *s, uint64_t *words) {
    for (int i = 0; i < PESS__WORDS; i++) words[i] = 0;
    pess__set_bit(words, plain_cell(s->x, s->y) + FRONT);
    pess__set_bit(words, plain_cell(s->x + (s->right != 0 ? -1 : 1), s->y) + BACK);
    const int tenths = plain_oxygen_tenths(s);
    for (int x = 0; x < tenths; x++) pess__set_bit(words, plain_cell(x, 9) + OXYGEN);
    for (int x = 9 - s->aboard; x < 9; x++) pess__set_bit(words, plain_cell(x, 9) + DIVERS);
    plain_draw_list(s->bullets, s->bullet_count, FRIENDLY, false, words);
    plain_draw_list(s->enemy_bullets, s->enemy_bullet_count, ENEMY, false, words);
    plain_draw_list(s->fish, s->fish_count, FISH, true, words);
    plain_draw_list(s->subs, s->sub_count, ENEMY_SUB, true, words);
    plain_draw_list(s->divers, s->diver_count, DIVER, true, words);
}

#endif
