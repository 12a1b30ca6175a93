/* pess inspect of a counted log. */
#include "counts.h"

#include "command.h"
#include "json.h"

#include <math.h>
#include <stdlib.h>

typedef struct summary {
    pess_counts_info info;
    int64_t states_seen, least, median, most; /* of n(s,a), over the pairs seen */
    double mean;                              /* of rewards */
} summary;

static const char *const unknown[] = {
    "how rows follow each other: gaps, repeated rows and episodes that do not end",
    "splits by episode, and returns of episodes: certificates without them are of the method robust",
};

static int ascending(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* False: not enough memory. */
static bool summarize(const pess_counts *counts, summary *out) {
    pess_counts_arrays a;
    *out = (summary){0};
    pess_counts_get_info(counts, &out->info);
    pess_counts_get_arrays(counts, &a);
    int64_t *seen = calloc((size_t)out->info.pairs_seen + 1, sizeof *seen), count = 0;
    if (seen == NULL) return false;
    for (int64_t z = 0; z < a.states * a.actions; z++) {
        if (a.pair[z] > 0) seen[count++] = a.pair[z];
        out->mean += a.reward_sum[z];
    }
    for (int64_t s = 0; s < a.states; s++) out->states_seen += a.state[s] > 0;
    qsort(seen, (size_t)count, sizeof *seen, ascending);
    if (count > 0) {
        out->least = seen[0];
        out->median = seen[count / 2];
        out->most = seen[count - 1];
    }
    out->mean /= (double)out->info.transitions;
    free(seen);
    return true;
}

static void print_json(const summary *s) {
    json_writer json = json_open("inspect");
    json_count(&json, "transitions", s->info.transitions);
    json_count(&json, "states", s->info.states);
    json_count(&json, "actions", s->info.actions);
    json_count(&json, "states_seen", s->states_seen);
    json_count(&json, "episodes", s->info.episodes);
    json_count(&json, "terminals", s->info.terminals);
    json_count(&json, "cutoffs", s->info.cutoffs);
    json_number(&json, "reward_min", s->info.reward_min);
    json_number(&json, "reward_max", s->info.reward_max);
    json_number(&json, "reward_mean", s->mean);
    json_count(&json, "pairs", s->states_seen * s->info.actions);
    json_count(&json, "pairs_seen", s->info.pairs_seen);
    json_count(&json, "successors", s->info.successors);
    json_count(&json, "count_least", s->least);
    json_count(&json, "count_median", s->median);
    json_count(&json, "count_most", s->most);
    json_array(&json, "unknown");
    for (size_t i = 0; i < COUNT_OF(unknown); i++) json_text(&json, NULL, unknown[i]);
    json_close(&json);
    json_close(&json);
    json_end(&json);
}

static void print_text(const char *path, const summary *s) {
    const pess_counts_info *i = &s->info;
    (void)printf("%s: a counted log\n", path);
    (void)printf("  transitions  %lld, of %lld different (state, action, next state) that continue\n",
                 (long long)i->transitions, (long long)i->successors);
    (void)printf("  states       %lld: actions were taken in %lld\n", (long long)i->states, (long long)s->states_seen);
    (void)printf("  actions      %lld\n", (long long)i->actions);
    if (i->has_episodes)
        (void)printf("  episodes     %lld\n", (long long)i->episodes);
    else
        (void)puts("  episodes     not marked");
    (void)printf("  ends         %lld terminal, %lld cut off\n", (long long)i->terminals, (long long)i->cutoffs);
    if (isnan(i->reward_min))
        (void)printf("  rewards      mean %.6g; their range is not in the counts: --reward-range declares it\n",
                     s->mean);
    else
        (void)printf("  rewards      %g to %g, mean %.6g\n", i->reward_min, i->reward_max, s->mean);
    (void)printf("  coverage     %lld of %lld pairs seen; samples of each: %lld to %lld, median %lld\n",
                 (long long)i->pairs_seen, (long long)s->states_seen * (long long)i->actions, (long long)s->least,
                 (long long)s->most, (long long)s->median);
    (void)puts("\nNot in counts");
    for (size_t k = 0; k < COUNT_OF(unknown); k++) (void)printf("  - %s\n", unknown[k]);
    (void)puts("\n'pess inspect' of the log itself shows this.");
}

int counts_inspect(const char *name, const pess_counts *counts, bool json) {
    pess_error error;
    summary s;
    terminal_progress_end();
    no_memory_for("the counts", &error);
    if (!summarize(counts, &s)) return report_error("inspect", &error);
    if (json)
        print_json(&s);
    else
        print_text(name, &s);
    return EXIT_FINE;
}
