/* Space Invaders: boards of 100 bits, so that a whole block of aliens moves by one shift. */
#include "env/board.h"

enum { GAME_CHANNELS = 6, CANNON = 0, ALIEN, ALIEN_LEFT, ALIEN_RIGHT, FRIENDLY, ENEMY };
enum { MOVE_INTERVAL = 12, FASTEST_INTERVAL = 6, ALIEN_SHOT_INTERVAL = 10, OWN_SHOT_INTERVAL = 5 };

__extension__ typedef unsigned __int128 board; /* cell (x,y) is bit 10*y + x */

#define ROW ((board)1023)
#define WHOLE (((board)1 << 100) - 1)

typedef struct game_state {
    board aliens, friendly, enemy; /* friendly and enemy: bullets */
    int32_t cannon;                /* column, on row 9 */
    int32_t to_right;              /* aliens go right; otherwise left */
    int32_t move_interval, move_timer;
    int32_t alien_shot_timer, own_shot_timer;
    int32_t ramp_index;
    int32_t unused;
} game_state;

/* Rows 0 to 3, columns 2 to 7. */
PESS__INLINE board block(void) {
    const board row = 0xfc;
    return row | (row << 10) | (row << 20) | (row << 30);
}

PESS__INLINE board column_of(int x) { /* x on every row */
    const uint64_t rows6 = 0x0004010040100401U;
    return (board)(((board)rows6 | ((board)rows6 << 60)) & WHOLE) << x & WHOLE;
}

PESS__INLINE int count(board b) {
    return __builtin_popcountll((uint64_t)b) + __builtin_popcountll((uint64_t)(b >> 64));
}

PESS__INLINE void game_reset(game_state *s, pess__source *source, bool fast) {
    (void)source, (void)fast;
    *s = (game_state){.aliens = block(),
                      .cannon = 5,
                      .move_interval = MOVE_INTERVAL,
                      .move_timer = MOVE_INTERVAL,
                      .alien_shot_timer = ALIEN_SHOT_INTERVAL};
}

PESS__INLINE bool any(board b) { return ((uint64_t)b | (uint64_t)(b >> 64)) != 0; }

/* Returns true where an alien was on the last row as the block moved down. */
PESS__INLINE bool move_aliens(game_state *s) {
    const int aliens = count(s->aliens);
    s->move_timer = aliens < s->move_interval ? aliens : s->move_interval;
    if (any(s->aliens & column_of(s->to_right != 0 ? 9 : 0))) {
        s->to_right = s->to_right == 0;
        const board last = (s->aliens >> 90) & ROW;
        s->aliens = ((s->aliens << 10) & WHOLE) | last; /* rows turn round: row 9 comes to row 0 */
        return last != 0;
    }
    s->aliens = s->to_right != 0 ? s->aliens << 1 : s->aliens >> 1;
    return false;
}

/* The nearest column with an alien (ties: the smaller) shoots, from its lowest alien. */
PESS__INLINE void alien_shot(game_state *s) {
    const uint64_t low = (uint64_t)(s->aliens & (((board)1 << 50) - 1)), high = (uint64_t)(s->aliens >> 50);
    const uint64_t half = low | high;
    const uint32_t columns = (uint32_t)((half | half >> 10 | half >> 20 | half >> 30 | half >> 40) & 1023);
    const uint32_t up_to = columns & ((2U << s->cannon) - 1), beyond = columns & ~up_to;
    if (columns == 0) return;
    const int left = 31 - __builtin_clz(up_to | 1), right = __builtin_ctz(beyond | 1U << 20); /* 20: none, and far */
    const int x = up_to != 0 && s->cannon - left <= right - s->cannon ? left : right;
    const board there = s->aliens & column_of(x);
    const uint64_t upper = (uint64_t)(there >> 64);
    const int bit = upper != 0 ? 127 - __builtin_clzll(upper) : 63 - __builtin_clzll((uint64_t)there);
    s->enemy |= (board)1 << bit;
}

PESS__INLINE int game_step(game_state *s, pess__source *source, int action, bool ramping, bool fast, bool *terminal) {
    (void)source, (void)fast;
    const bool fires = action == PESS__FIRE && s->own_shot_timer == 0;
    s->friendly |= (board)fires << (90 + s->cannon);
    s->own_shot_timer = fires ? OWN_SHOT_INTERVAL : s->own_shot_timer;
    s->cannon = pess__step_within(s->cannon, pess__action_dx(action), 0, 9);
    const board cannon_cell = (board)1 << (90 + s->cannon);
    s->friendly >>= 10;
    s->enemy = (s->enemy << 10) & WHOLE;
    bool dead = any((s->enemy | s->aliens) & cannon_cell);
    if (s->move_timer == 0) {
        dead |= move_aliens(s);
        dead |= any(s->aliens & cannon_cell);
    }
    if (s->alien_shot_timer == 0) {
        s->alien_shot_timer = ALIEN_SHOT_INTERVAL;
        alien_shot(s);
    }
    const board killed = s->aliens & s->friendly;
    const int reward = count(killed);
    s->aliens ^= killed;
    s->friendly ^= killed;
    s->own_shot_timer -= s->own_shot_timer > 0;
    s->move_timer--;
    s->alien_shot_timer--;
    if (!any(s->aliens)) {
        if (s->move_interval > FASTEST_INTERVAL && ramping) {
            s->move_interval--;
            s->ramp_index++;
        }
        s->aliens = block();
    }
    *terminal = dead;
    return reward;
}

/* The first `always` bullets are drawn without asking whether they are there: the cell behind the last one is added to
 * the board, and what is drawn for it lands in padding bits. */
PESS__INLINE void draw_bullets(board bullets, int always, unsigned channel, pess__word *words) {
    const board behind = (board)1 << 100;
    bullets |= behind;
    for (int i = 0; i < always || bullets > behind; i++) {
        const uint64_t low = (uint64_t)bullets, high = (uint64_t)(bullets >> 64);
        const unsigned cell = low != 0 ? (unsigned)__builtin_ctzll(low) : 64 + (unsigned)__builtin_ctzll(high);
        pess__set_bit(words, cell * GAME_CHANNELS + channel);
        bullets = (bullets & (bullets - 1)) | behind;
    }
}

PESS__INLINE void game_draw(const game_state *s, pess__word *words) {
    for (int i = 0; i < 10; i++) words[i] = 0;
    const uint64_t both = (1U << ALIEN) | (s->to_right != 0 ? 1U << ALIEN_RIGHT : 1U << ALIEN_LEFT);
    const uint64_t low = (uint64_t)s->aliens & ((1ULL << 50) - 1), high = (uint64_t)(s->aliens >> 50);
    for (unsigned y = 0; y < 10; y++) {
        const uint64_t row = ((y < 5 ? low >> (10 * y) : high >> (10 * (y - 5)))) & 1023;
        pess__or_bits(words, y * 10 * GAME_CHANNELS, pess__spread_row(row, GAME_CHANNELS) * both);
    }
    draw_bullets(s->friendly, 2, FRIENDLY, words);
    draw_bullets(s->enemy, 1, ENEMY, words);
    words[9] &= (1U << (600 - 576)) - 1;
    pess__set_bit(words, (90 + (unsigned)s->cannon) * GAME_CHANNELS + CANNON);
}

static bool within(int value, int low, int high) { return value >= low && value <= high; }

static bool game_valid(const game_state *s) {
    return s->aliens <= WHOLE && s->friendly <= WHOLE && s->enemy <= WHOLE && any(s->aliens) &&
           within(s->cannon, 0, 9) && within(s->to_right, 0, 1) &&
           within(s->move_interval, FASTEST_INTERVAL, MOVE_INTERVAL) && within(s->move_timer, 0, MOVE_INTERVAL) &&
           within(s->alien_shot_timer, 0, ALIEN_SHOT_INTERVAL) && within(s->own_shot_timer, 0, OWN_SHOT_INTERVAL) &&
           within(s->ramp_index, 0, MOVE_INTERVAL) && s->unused == 0;
}

#include "env/loop.h"

static const pess_env_channel channels[GAME_CHANNELS] = {
    {"cannon", 0x4ea1ff, 'A', 5},           {"alien", 0x5bb98c, 'W', 1},
    {"alien going left", 0x5bb98c, '<', 2}, {"alien going right", 0x9ad06b, '>', 3},
    {"friendly bullet", 0xf6c445, '\'', 4}, {"enemy bullet", 0xe4572e, '!', 6}};
static const uint8_t minimal[] = {PESS__NOTHING, PESS__LEFT, PESS__RIGHT, PESS__FIRE};

const pess__game PESS__VARIANT(pess__game_space_invaders) = {
    .info = {.name = "space_invaders", .summary = "shoot the aliens before they land", GAME_BOARD, .ramps = true},
    GAME_TABLE};
