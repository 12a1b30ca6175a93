/* The log of a certificate, read and counted without the library. */
#include "check_certificate.h"

real gamma_, r_lo, r_hi, v_lo, v_hi;
bool ends, adaptive;
int successors_declared;
uint8_t *terminal;

/* Room that lasts until the end. */
static void *kept[4096];
static int kept_count;
void release(void) {
    for (int i = 0; i < kept_count; i++) free(kept[i]);
    json_decref(certificate);
}
void *keep(size_t count, size_t size) {
    if (kept_count == 4096) exit(3);
    return kept[kept_count++] = room(count, size);
}

table new_table(int actions) {
    const size_t z = (size_t)(S * actions);
    return (table){actions,
                   NAN,
                   INFINITY,
                   -INFINITY,
                   keep(z, sizeof(real)),
                   keep(z, sizeof(real)),
                   keep(z, sizeof(real)),
                   keep(z * (size_t)(S + 1), sizeof(real)),
                   keep(z * (size_t)(S + 1), sizeof(real))};
}

void put(table *c, const row *x, bool one_action) {
    const long z = one_action ? x->s : x->s * c->actions + x->a, to = x->end ? S : x->t;
    c->least = fminl(c->least, x->r);
    c->most = fmaxl(c->most, x->r);
    if (isnan((double)c->origin)) c->origin = x->r;
    const real r = x->r - c->origin;
    c->n[z] += 1;
    c->sum[z] += r;
    c->square[z] += r * r;
    c->next[z * (S + 1) + to] += 1;
    c->paid[z * (S + 1) + to] += r;
}

/* Columns by name; fields are plain numbers. */
row *read_log(const char *path, long *count, bool *episodes) {
    FILE *f = fopen(path, "r");
    char line[4096];
    if (!f || !fgets(line, sizeof line, f)) exit(3);
    int column[8] = {-1, -1, -1, -1, -1, -1, -1, -1}, k = 0;
    const char *names[] = {"state", "action", "reward", "next_state", "terminal", "episode"};
    for (char *w = strtok(line, ",\r\n"); w; w = strtok(NULL, ",\r\n"), k++)
        for (int i = 0; i < 6; i++)
            if (strcmp(w, names[i]) == 0) column[i] = k;
    *episodes = column[5] >= 0;
    row *rows = NULL;
    long capacity = 0;
    for (*count = 0; fgets(line, sizeof line, f); ++*count) {
        double field[32] = {0};
        int n = 0;
        for (char *at = line; n < 32 && *at && *at != '\n';) {
            char *after = at;
            field[n++] = strtod(at, &after);
            at = strchr(after, ',');
            if (!at) break;
            at++;
        }
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            rows = realloc(rows, (size_t)capacity * sizeof *rows);
            if (!rows) exit(3);
        }
        rows[*count] = (row){(long)field[column[0]], (long)field[column[1]],
                             (long)field[column[3]], column[5] >= 0 ? (long)field[column[5]] : 0,
                             (real)field[column[2]], column[4] >= 0 && field[column[4]] != 0};
    }
    (void)fclose(f);
    kept[kept_count++] = rows;
    return rows;
}
