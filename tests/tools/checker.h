/* What the independent checkers of certificates share: they read the same files, and nothing of the library. */
#ifndef PESS_TESTS_CHECKER_H
#define PESS_TESTS_CHECKER_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

typedef long double real;

static int S, A;
static json_t *certificate;

static void *room(size_t count, size_t size) {
    void *p = calloc(count + 1, size);
    if (!p) exit(3);
    return p;
}

/* state,action,probability into pi [S*A], which is zero. */
static void read_policy(const char *path, real *pi) {
    FILE *f = fopen(path, "r");
    char line[512];
    if (!f || !fgets(line, sizeof line, f)) exit(3);
    while (fgets(line, sizeof line, f)) {
        long s, a;
        double p;
        if (sscanf(line, "%ld,%ld,%lf", &s, &a, &p) == 3) pi[s * A + a] = p;
    }
    (void)fclose(f);
}

static real number(const char *key) { return json_number_value(json_object_get(certificate, key)); }
static real share(const char *key) {
    return json_number_value(json_object_get(json_object_get(certificate, "delta_ledger"), key));
}

#endif
