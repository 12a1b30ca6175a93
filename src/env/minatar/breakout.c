/* Breakout: a paddle, a ball that flies diagonally, three rows of bricks. */
#include "env/board.h"

enum { GAME_CHANNELS = 4, PADDLE = 0, BALL, TRAIL, BRICK };
enum { UP_LEFT, UP_RIGHT, DOWN_RIGHT, DOWN_LEFT };

#define ALL_BRICKS ((1U << 30) - 1)

typedef struct game_state {
    int32_t paddle;         /* column, on row 9 */
    int32_t x, y;           /* ball */
    int32_t last_x, last_y; /* where it was before the step */
    int32_t direction;
    int32_t strike;  /* the ball was in a brick's cell last step, so the next brick is not broken */
    uint32_t bricks; /* bit 10*(row-1) + column, rows 1 to 3 */
} game_state;

PESS__INLINE int mirror_left_right(int direction) { return direction ^ 1; }
PESS__INLINE int mirror_up_down(int direction) { return 3 - direction; }
PESS__INLINE int reverse(int direction) { return direction ^ 2; }

PESS__INLINE void game_reset(game_state *s, pess__source *source, bool fast) {
    const int side = pess__draw_integer(source, 0, 1, fast);
    const int x = side == 0 ? 0 : 9;
    *s = (game_state){.paddle = 4,
                      .x = x,
                      .y = 3,
                      .last_x = x,
                      .last_y = 3,
                      .direction = side == 0 ? DOWN_RIGHT : DOWN_LEFT,
                      .bricks = ALL_BRICKS};
}

PESS__INLINE int game_step(game_state *s, pess__source *source, int action, bool ramping, bool fast, bool *terminal) {
    (void)source, (void)ramping, (void)fast;
    int reward = 0;
    const int paddle = pess__step_within(s->paddle, pess__action_dx(action), 0, 9);
    const int old_x = s->x, old_y = s->y;
    int direction = s->direction;
    int x = old_x + (direction == UP_RIGHT || direction == DOWN_RIGHT ? 1 : -1);
    int y = old_y + (direction >= DOWN_RIGHT ? 1 : -1);
    if (x < 0 || x > 9) {
        x = x < 0 ? 0 : 9;
        direction = mirror_left_right(direction);
    }
    bool struck = false;
    const uint32_t cell = y >= 1 && y <= 3 ? 1U << (10 * (y - 1) + x) : 0;
    if (y < 0) {
        y = 0;
        direction = mirror_up_down(direction);
    } else if ((s->bricks & cell) != 0) {
        struck = true;
        if (s->strike == 0) {
            reward = 1;
            s->bricks &= ~cell;
            y = old_y;
            direction = mirror_up_down(direction);
        }
    } else if (y == 9) {
        if (s->bricks == 0) s->bricks = ALL_BRICKS;
        if (old_x == paddle) {
            direction = mirror_up_down(direction);
            y = old_y;
        } else if (x == paddle) {
            direction = reverse(direction);
            y = old_y;
        } else {
            *terminal = true;
        }
    }
    s->strike = struck;
    s->paddle = paddle;
    s->last_x = old_x;
    s->last_y = old_y;
    s->x = x;
    s->y = y;
    s->direction = direction;
    return reward;
}

PESS__INLINE unsigned bit(int x, int y, unsigned channel) { return (unsigned)(y * 10 + x) * GAME_CHANNELS + channel; }

PESS__INLINE void game_draw(const game_state *s, pess__word *words) {
    const uint64_t row1 = pess__spread_row(s->bricks & 1023, 4) << BRICK;
    const uint64_t row2 = pess__spread_row((s->bricks >> 10) & 1023, 4) << BRICK;
    const uint64_t row3 = pess__spread_row(s->bricks >> 20, 4) << BRICK;
    words[0] = row1 << 40; /* a row is 40 bits */
    words[1] = (row1 >> 24) | (row2 << 16) | (row3 << 56);
    words[2] = row3 >> 8;
    words[3] = words[4] = words[5] = words[6] = 0;
    pess__set_bit(words, bit(s->paddle, 9, PADDLE));
    pess__set_bit(words, bit(s->x, s->y, BALL));
    pess__set_bit(words, bit(s->last_x, s->last_y, TRAIL));
}

static bool on_board(int x, int y) { return x >= 0 && x <= 9 && y >= 0 && y <= 9; }

static bool game_valid(const game_state *s) {
    return on_board(s->paddle, 9) && on_board(s->x, s->y) && on_board(s->last_x, s->last_y) && s->direction >= 0 &&
           s->direction <= 3 && (s->strike == 0 || s->strike == 1) && s->bricks <= ALL_BRICKS;
}

#include "env/loop.h"

static const pess_env_channel channels[GAME_CHANNELS] = {
    {"paddle", 0x4ea1ff, '=', 1}, {"ball", 0xffffff, 'o', 3}, {"trail", 0x6b7280, '.', 0}, {"brick", 0xe4572e, '#', 2}};
static const uint8_t minimal[] = {PESS__NOTHING, PESS__LEFT, PESS__RIGHT};

const pess__game PESS__VARIANT(pess__game_breakout) = {
    .info = {.name = "breakout",
             .summary = "bounce the ball off the paddle, break the bricks",
             GAME_BOARD,
             .ramps = false},
    GAME_TABLE};
