/* A terminal for games: raw keys, a screen of its own that goes away again, colours as the terminal has them. */
#ifndef PESS_CLI_TERM_H
#define PESS_CLI_TERM_H

#include "pess.h"

typedef enum term_colours { TERM_PLAIN, TERM_256, TERM_TRUE } term_colours;

/* What the person wants. */
typedef enum term_key {
    KEY_NONE = -1,
    KEY_LEFT = 1, /* the values 1 to 5 are the actions */
    KEY_UP = 2,
    KEY_RIGHT = 3,
    KEY_DOWN = 4,
    KEY_FIRE = 5,
    KEY_PAUSE,
    KEY_STEP,
    KEY_RESTART,
    KEY_FASTER,
    KEY_SLOWER,
    KEY_QUIT
} term_key;

/* What is shown besides the board. */
typedef struct term_view {
    const pess_env_info *info;
    const uint8_t *bits;
    const char *who, *notice; /* notice: one line below the board, or "" */
    int64_t score, best, step, episode;
    int fps;
    const float *q; /* [PESS_ENV_ACTIONS] values of the actions, shown beside a board of full size; NULL: none */
} term_view;

/* False, with a sentence in `why`, where there is no terminal, or it is too small for the smallest board. */
bool term_open(const pess_env_info *info, char *why, size_t size);
/* Restores everything; may be called twice. */
void term_close(void);
/* Waits up to `seconds` for a key. KEY_QUIT also after Ctrl-C and when the terminal goes away. A stop (Ctrl-Z) and a
 * change of size are dealt with inside; *redraw tells that the screen must be drawn again. */
term_key term_wait(double seconds, bool *redraw);
void term_draw(const term_view *view);

#endif
