#include "term.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* The terminal is one per process, and signal handlers must reach it. */
static struct termios saved;
static bool is_open;
static volatile sig_atomic_t wants_quit, wants_stop, was_resized;
static sigset_t watched, outside; /* signals that arrive only while term_wait sleeps */
static term_colours colours;

static char screen[1 << 16]; /* one frame, written at once so that it does not flicker */
static size_t used;

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int wrote = vsnprintf(screen + used, sizeof screen - used, format, arguments);
    va_end(arguments);
    if (wrote > 0 && (size_t)wrote < sizeof screen - used) used += (size_t)wrote;
}

static void send(const char *text, size_t length) {
    while (length > 0) {
        const ssize_t wrote = write(STDOUT_FILENO, text, length);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return;
        text += wrote;
        length -= (size_t)wrote;
    }
}

/* ---- opening and closing */

static void on_signal(int number) {
    if (number == SIGTSTP)
        wants_stop = 1;
    else if (number == SIGWINCH)
        was_resized = 1;
    else
        wants_quit = 1;
}

static term_colours find_colours(void) {
    const char *term = getenv("TERM"), *depth = getenv("COLORTERM"), *none = getenv("NO_COLOR");
    if ((none != NULL && none[0] != '\0') || term == NULL || strcmp(term, "dumb") == 0) return TERM_PLAIN;
    if (depth != NULL && (strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0)) return TERM_TRUE;
    if (strstr(term, "direct") != NULL) return TERM_TRUE;
    return strstr(term, "256") != NULL ? TERM_256 : TERM_PLAIN;
}

static void get_size(int *cols, int *rows) {
    struct winsize size = {.ws_col = 0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        size.ws_col = 80;
        size.ws_row = 24;
    }
    *cols = size.ws_col;
    *rows = size.ws_row;
}

static void enter(void) {
    struct termios raw = saved;
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO); /* Ctrl-C and Ctrl-Z stay signals */
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
    static const char begin[] = "\033[?1049h\033[?25l\033[2J"; /* own screen, no cursor, clear */
    send(begin, sizeof begin - 1);
}

static void leave(void) {
    static const char end[] = "\033[0m\033[?25h\033[?1049l";
    send(end, sizeof end - 1);
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved);
}

/* The least a board takes: a half-block cell is one column wide and half a row high; a wide one two columns. */
static void least_size(const pess_env_info *info, int *cols, int *rows) {
    *cols = info->cols + 2;
    *rows = (info->rows + 1) / 2 + 2;
}

bool term_open(const pess_env_info *info, char *why, size_t size) {
    int cols = 0, rows = 0, least_cols = 0, least_rows = 0;
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) {
        (void)snprintf(why, size, "%s is not a terminal; --record FILE.gif needs none",
                       isatty(STDIN_FILENO) == 0 ? "standard input" : "standard output");
        return false;
    }
    colours = find_colours();
    get_size(&cols, &rows);
    least_size(info, &least_cols, &least_rows);
    if (cols < least_cols || rows < least_rows) {
        (void)snprintf(why, size, "the terminal has %d columns and %d rows; the board takes %d and %d", cols, rows,
                       least_cols, least_rows);
        return false;
    }
    if (tcgetattr(STDIN_FILENO, &saved) != 0) {
        (void)snprintf(why, size, "the terminal does not answer: %s", strerror(errno));
        return false;
    }
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH};
    struct sigaction action = {.sa_handler = on_signal};
    (void)sigemptyset(&action.sa_mask);
    (void)sigemptyset(&watched);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        (void)sigaction(signals[i], &action, NULL);
        (void)sigaddset(&watched, signals[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &watched, &outside);
    is_open = true;
    (void)atexit(term_close);
    enter();
    return true;
}

void term_close(void) {
    if (!is_open) return;
    is_open = false;
    leave();
    (void)sigprocmask(SIG_SETMASK, &outside, NULL);
}

/* Ctrl-Z: give the terminal back, stop as anyone else would, and take it again on waking. */
static void stop(void) {
    struct sigaction usual = {.sa_handler = SIG_DFL}, ours;
    sigset_t stops;
    leave();
    (void)sigaction(SIGTSTP, &usual, &ours);
    (void)raise(SIGTSTP); /* blocked until the next line */
    (void)sigemptyset(&stops);
    (void)sigaddset(&stops, SIGTSTP);
    (void)sigprocmask(SIG_UNBLOCK, &stops, NULL);
    (void)sigprocmask(SIG_BLOCK, &stops, NULL);
    (void)sigaction(SIGTSTP, &ours, NULL);
    enter();
}

/* ---- keys */

/* One key from what was read; arrows come as ESC [ A or ESC O A. Returns how many bytes it took. */
static size_t read_key(const char *text, size_t length, term_key *key) {
    *key = KEY_NONE;
    if (length >= 3 && text[0] == '\033' && (text[1] == '[' || text[1] == 'O')) {
        *key = text[2] == 'A'   ? KEY_UP
               : text[2] == 'B' ? KEY_DOWN
               : text[2] == 'C' ? KEY_RIGHT
               : text[2] == 'D' ? KEY_LEFT
                                : KEY_NONE;
        return 3;
    }
    static const struct {
        char byte;
        term_key key;
    } keys[] = {{'a', KEY_LEFT},   {'w', KEY_UP},     {'d', KEY_RIGHT}, {'s', KEY_DOWN},    {' ', KEY_FIRE},
                {'p', KEY_PAUSE},  {'n', KEY_STEP},   {'.', KEY_STEP},  {'r', KEY_RESTART}, {'+', KEY_FASTER},
                {'=', KEY_FASTER}, {'-', KEY_SLOWER}, {'q', KEY_QUIT},  {'\003', KEY_QUIT}, {'\004', KEY_QUIT}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (text[0] == keys[i].byte) *key = keys[i].key;
    return 1;
}

static char typed[64]; /* read but not yet handed out */
static size_t typed_count;

static term_key next_typed(void) {
    while (typed_count > 0) {
        term_key key = KEY_NONE;
        const size_t taken = read_key(typed, typed_count, &key);
        typed_count -= taken;
        memmove(typed, typed + taken, typed_count);
        if (key != KEY_NONE) return key;
    }
    return KEY_NONE;
}

term_key term_wait(double seconds, bool *redraw) {
    const term_key waiting = next_typed();
    if (waiting != KEY_NONE) return waiting;
    if (seconds < 0) seconds = 0;
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    const struct timespec patience = {.tv_sec = (time_t)seconds,
                                      .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    const int ready = ppoll(&in, 1, &patience, &outside);
    if (wants_quit) return KEY_QUIT;
    if (wants_stop) {
        wants_stop = 0;
        stop();
        *redraw = true;
    }
    if (was_resized) {
        was_resized = 0;
        send("\033[2J", 4);
        *redraw = true;
    }
    if (ready <= 0) return KEY_NONE;
    const ssize_t got = read(STDIN_FILENO, typed, sizeof typed);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return KEY_QUIT;
    typed_count = got > 0 ? (size_t)got : 0;
    return next_typed();
}

/* ---- drawing */

static void add_colour(int what, uint32_t colour) { /* what: 38 foreground, 48 background */
    const unsigned r = (colour >> 16) & 255, g = (colour >> 8) & 255, b = colour & 255;
    if (colours == TERM_TRUE)
        add("\033[%d;2;%u;%u;%um", what, r, g, b);
    else if (colours == TERM_256) /* the 6×6×6 cube */
        add("\033[%d;5;%um", what, 16 + 36 * ((r * 5 + 127) / 255) + 6 * ((g * 5 + 127) / 255) + (b * 5 + 127) / 255);
}

static const uint32_t empty_colour = 0x161d31;

static uint32_t cell_colour(const pess_env_info *info, int channel) {
    return channel >= 0 ? info->channel[channel].colour : empty_colour;
}

/* A cell two columns wide: a coloured block, or its glyph where there are no colours. */
static void add_wide_cell(const pess_env_info *info, int channel) {
    if (colours == TERM_PLAIN) {
        add(" %c", channel >= 0 ? info->channel[channel].glyph : '_');
        return;
    }
    add_colour(48, cell_colour(info, channel));
    add("  ");
}

static void add_legend_line(const term_view *view, int row) {
    const pess_env_info *info = view->info;
    static const char *const keys[] = {"", "arrows or wasd, space", "p pause   n one step", "r restart   q quit",
                                       "+ - speed"};
    add("\033[0m    ");
    if (row < info->channels) {
        add_wide_cell(info, row);
        add("\033[0m %s", info->channel[row].name);
    }
    if (row >= 0 && row < (int)(sizeof keys / sizeof keys[0])) add("\033[50G%s", keys[row]);
}

/* The value of action y, the largest with a mark. */
static void add_value_line(const term_view *view, int y) {
    if (y < 1 || y > PESS_ENV_ACTIONS) return;
    int best = 0;
    for (int a = 1; a < PESS_ENV_ACTIONS; a++)
        if (view->q[a] > view->q[best]) best = a;
    const int action = y - 1;
    add("  %s %-8s%8.2f", action == best ? ">" : " ", pess_env_action_name(action), (double)view->q[action]);
}

static void draw_wide(const term_view *view, const int *top, bool legend, bool values) {
    const pess_env_info *info = view->info;
    for (int y = 0; y < info->rows; y++) {
        add("\033[%d;2H", y + 2);
        for (int x = 0; x < info->cols; x++) add_wide_cell(info, top[y * info->cols + x]);
        add("\033[0m");
        if (values && y == 0) add("  q-values");
        if (values) add_value_line(view, y);
        if (legend) add_legend_line(view, y);
        add("\033[K");
    }
}

/* Two rows in one: the upper half block in the upper cell's colour on the lower cell's. */
static void draw_half(const term_view *view, const int *top) {
    const pess_env_info *info = view->info;
    for (int y = 0; y < info->rows; y += 2) {
        add("\033[%d;2H", y / 2 + 2);
        for (int x = 0; x < info->cols; x++) {
            const int upper = top[y * info->cols + x];
            const int lower = y + 1 < info->rows ? top[(y + 1) * info->cols + x] : -1;
            if (colours == TERM_PLAIN) { /* one glyph for two cells: the one that is there */
                add("%c", upper >= 0 ? info->channel[upper].glyph : lower >= 0 ? info->channel[lower].glyph : '_');
                continue;
            }
            add_colour(38, cell_colour(info, upper));
            add_colour(48, cell_colour(info, lower));
            add("\342\226\200");
        }
        add("\033[0m\033[K");
    }
}

void term_draw(const term_view *view) {
    int cols = 0, rows = 0, least_cols = 0, least_rows = 0;
    int top[100];
    get_size(&cols, &rows);
    least_size(view->info, &least_cols, &least_rows);
    used = 0;
    if (cols < least_cols || rows < least_rows) {
        add("\033[H\033[2Jtoo small");
        send(screen, used);
        return;
    }
    pess_env_top_channels(view->info, view->bits, top);
    const bool wide = cols >= 2 * view->info->cols + 2 && rows >= view->info->rows + 3;
    const bool values = wide && view->q != NULL && cols >= 2 * view->info->cols + 24;
    const bool legend = wide && !values && cols >= 74;
    const int below = wide ? view->info->rows + 2 : (view->info->rows + 1) / 2 + 2;
    if (cols >= 40)
        add("\033[H\033[1m %s\033[0m  %s, %d steps a second\033[K", view->info->name, view->who, view->fps);
    else
        add("\033[H %.*s\033[K", cols - 2, view->info->name);
    if (wide)
        draw_wide(view, top, legend, values);
    else
        draw_half(view, top);
    add("\033[%d;2H", below);
    if (cols >= 60)
        add("score %lld   step %lld   episode %lld   best %lld", (long long)view->score, (long long)view->step,
            (long long)view->episode, (long long)view->best);
    else if (cols >= 24)
        add("score %lld  step %lld", (long long)view->score, (long long)view->step);
    else
        add("%lld", (long long)view->score);
    add("\033[K");
    if (below < rows) add("\033[%d;2H%.*s\033[K", below + 1, cols - 2, view->notice);
    send(screen, used);
}
