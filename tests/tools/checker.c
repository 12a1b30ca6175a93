#include "checker.h"

int S, A;
json_t *certificate;

void *room(size_t count, size_t size) {
    void *p = calloc(count + 1, size);
    if (!p) exit(3);
    return p;
}

void read_policy(const char *path, real *pi) {
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

real number(const char *key) { return json_number_value(json_object_get(certificate, key)); }
real share(const char *key) {
    return json_number_value(json_object_get(json_object_get(certificate, "delta_ledger"), key));
}
