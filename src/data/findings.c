/* What is odd in a log, where, and what to do about it: one function per finding, most serious first. Rows are counted
 * from 1. */
#include "data/inspect.h"

#include "core/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct page {
    const pess__inspected *found;
    const pess_dataset *data;
    const pess_inspection *in;
    pess_finding *findings;
    size_t count;
} page;

/* count: how often; row: of the first example, from 0, or -1. */
static void say(page *p, pess_severity severity, const char *code, int64_t count, int64_t row, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

static void say(page *p, pess_severity severity, const char *code, int64_t count, int64_t row, const char *format,
                ...) {
    pess_finding *f = &p->findings[p->count++];
    f->severity = severity;
    f->code = code;
    f->count = count;
    f->row = row + 1;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(f->text, sizeof f->text, format, arguments);
    va_end(arguments);
}

enum { LABEL = 48 };

/* The name of an id, or the id; shortened without cutting a character in two. */
static const char *label(const pess_names *names, int64_t id, char out[LABEL]) {
    const char *name = pess_names_get(names, id);
    if (name == NULL) {
        (void)snprintf(out, LABEL, "%lld", (long long)id);
        return out;
    }
    const size_t length = strlen(name);
    if (length + 3 <= LABEL) {
        (void)snprintf(out, LABEL, "'%s'", name);
        return out;
    }
    size_t part = LABEL - 8;
    while (part > 0 && ((unsigned char)name[part] & 0xC0) == 0x80) part--;
    (void)snprintf(out, LABEL, "'%.*s...'", (int)part, name);
    return out;
}

static const char *state_at(const page *p, int64_t id, char out[LABEL]) { return label(p->data->state_names, id, out); }

static const char *episode_at(const page *p, int64_t row, char out[LABEL]) {
    return label(p->data->episode_names, p->data->episode[row], out);
}

static void after_terminal(page *p) {
    const pess__inspected *f = p->found;
    char episode[LABEL];
    if (f->after_terminal == 0) return;
    say(p, PESS_SEVERITY_WARNING, "terminal-continues", f->after_terminal, f->after_row,
        "Rows that follow a terminal row of the same episode: %lld; the first is row %lld in episode %s. Nothing can "
        "follow a terminal transition: if it marks a time limit, call it truncated; if episode ids are used twice, "
        "make them unique.",
        (long long)f->after_terminal, (long long)f->after_row + 1, episode_at(p, f->after_row, episode));
}

static void gaps(page *p) {
    const pess_dataset *d = p->data;
    const pess__inspected *f = p->found;
    char next[LABEL], state[LABEL], episode[LABEL];
    if (p->in->gaps == 0) return;
    if (d->episode == NULL && p->in->gaps > p->in->rows / 2) {
        say(p, PESS_SEVERITY_NOTE, "unlinked-rows", p->in->gaps, f->gap_after,
            "Most rows do not continue the row before them (row %lld leads to state %s, row %lld begins in %s), so the "
            "rows are taken as single transitions. If they are episodes, add the columns episode and step.",
            (long long)f->gap_before + 1, state_at(p, d->next_state[f->gap_before], next), (long long)f->gap_after + 1,
            state_at(p, d->state[f->gap_after], state));
        return;
    }
    char how[4 * LABEL];
    const bool by_number = d->next_state[f->gap_before] == d->state[f->gap_after];
    if (by_number)
        (void)snprintf(how, sizeof how, "row %lld is step %lld, row %lld step %lld", (long long)f->gap_before + 1,
                       (long long)d->step[f->gap_before], (long long)f->gap_after + 1,
                       (long long)d->step[f->gap_after]);
    else
        (void)snprintf(how, sizeof how, "row %lld leads to state %s, row %lld begins in %s",
                       (long long)f->gap_before + 1, state_at(p, d->next_state[f->gap_before], next),
                       (long long)f->gap_after + 1, state_at(p, d->state[f->gap_after], state));
    say(p, PESS_SEVERITY_WARNING, "episode-gap", p->in->gaps, f->gap_after,
        "Rows that do not continue the one before them in their episode: %lld%s%s; first: %s. Rows are missing or out "
        "of order: %s.",
        (long long)p->in->gaps, d->episode != NULL ? "; episode " : "",
        d->episode != NULL ? episode_at(p, f->gap_before, episode) : "", how,
        d->step == NULL ? "add a step column, or check the export"
        : by_number     ? "check the export, or read the log without its column step if that has times"
                        : "check the export");
}

static void after_cutoff(page *p) {
    const pess__inspected *f = p->found;
    char episode[LABEL];
    if (f->after_cutoff == 0) return;
    say(p, PESS_SEVERITY_WARNING, "cutoff-continues", f->after_cutoff, f->cutoff_row,
        "Rows that follow a cut-off row of the same episode: %lld; the first is row %lld in episode %s. They do not "
        "belong to the same return: let a new episode begin there.",
        (long long)f->after_cutoff, (long long)f->cutoff_row + 1, episode_at(p, f->cutoff_row, episode));
}

static void late_starts(page *p) {
    const int64_t row = p->found->late_row;
    char episode[LABEL];
    if (p->in->late_starts == 0) return;
    say(p, PESS_SEVERITY_WARNING, "late-starts", p->in->late_starts, row,
        "Episodes that begin with a later step than the others: %lld of %lld; first: episode %s, row %lld, with step "
        "%lld instead of %lld. Their beginnings are missing: check the export.",
        (long long)p->in->late_starts, (long long)p->in->episodes, episode_at(p, row, episode), (long long)row + 1,
        (long long)p->data->step[row], (long long)p->found->least_step);
}

static void duplicates(page *p) {
    char episode[LABEL];
    const int64_t row = p->found->duplicate_row;
    if (row < 0) return;
    say(p, PESS_SEVERITY_WARNING, "duplicate-step", p->in->duplicates, row,
        "Rows that repeat a step of their episode: %lld; first: row %lld, episode %s, step %lld. Each of them is "
        "counted, so the data look larger than they are: remove the copies, number the episodes apart or, where "
        "several decisions were made on one date, give each a step of its own.",
        (long long)p->in->duplicates, (long long)row + 1, episode_at(p, row, episode), (long long)p->data->step[row]);
}

static void copies(page *p) {
    const pess__copies found = pess__find_copies(p->data);
    if (found.times == 1) return;
    say(p, PESS_SEVERITY_WARNING, "copied-rows", found.times, found.row,
        "Every row stands in the log %lld times, %s; the first copy is row %lld. Each of them is counted, so the data "
        "look larger than they are: remove the copies.",
        (long long)found.times, found.row == 1 ? "one after the other" : "as the whole log is repeated",
        (long long)found.row + 1);
}

static void probabilities(page *p) {
    const pess__inspected *f = p->found;
    const pess_dataset *d = p->data;
    char state[LABEL], action[LABEL];
    if (f->odd_pairs == 0) return;
    say(p, PESS_SEVERITY_WARNING, "probability-mismatch", f->odd_pairs, f->odd_row,
        "The column probability disagrees with the log in %lld of %lld pairs; worst: state %s, action %s, logged %.3g, "
        "but %.3g of the state's rows. Check that it is the probability of the action that was taken, given the state.",
        (long long)f->odd_pairs, (long long)f->probability_pairs, state_at(p, d->state[f->odd_row], state),
        label(d->action_names, d->action[f->odd_row], action), f->odd_logged, f->odd_empirical);
}

static void next_only(page *p) {
    char state[LABEL];
    if (p->in->next_only_states == 0) return;
    const int64_t row = p->found->next_only_row;
    say(p, PESS_SEVERITY_WARNING, "next-only-states", p->in->next_only_states, row,
        "States that are reached but never acted in: %lld (first: %s, reached in row %lld). The log says nothing about "
        "what follows there. If they end the episode, mark those rows terminal; otherwise they count as unseen.",
        (long long)p->in->next_only_states, state_at(p, p->data->next_state[row], state), (long long)row + 1);
}

static void open_ends(page *p) {
    char episode[LABEL];
    if (p->in->open_ends == 0) return;
    const int64_t row = p->found->open_row;
    say(p, PESS_SEVERITY_WARNING, "open-ends", p->in->open_ends, row,
        "Episodes that stop without a terminal or truncated flag: %lld of %lld; first: episode %s, last row %lld. They "
        "are taken as going on unseen. If they really end there, mark the last row terminal; if they were cut off, "
        "truncated.",
        (long long)p->in->open_ends, (long long)p->in->episodes, episode_at(p, row, episode), (long long)row + 1);
}

/* What spreadsheets take for a formula; a sign before a number is none. */
static bool is_formula(const char *name) {
    if (name[0] == '=' || name[0] == '@') return true;
    return (name[0] == '+' || name[0] == '-') && strspn(name + 1, "0123456789.eE+-") != strlen(name + 1);
}

static void formulas(page *p) {
    const pess_names *const lists[] = {p->data->state_names, p->data->action_names, p->data->episode_names};
    int64_t count = 0;
    const char *first = NULL;
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
        for (int64_t i = 0; lists[k] != NULL && i < pess_names_count(lists[k]); i++) {
            const char *name = pess_names_get(lists[k], i);
            if (!is_formula(name)) continue;
            if (count++ == 0) first = name;
        }
    if (count > 0)
        say(p, PESS_SEVERITY_WARNING, "formula-names", count, -1,
            "Names that a spreadsheet runs as a formula: %lld (first: '%.40s'). CSV files repeat names as they are: do "
            "not open them in a spreadsheet, or rename these in the log.",
            (long long)count, first);
}

static void rewards(page *p) {
    const pess_inspection *in = p->in;
    if (in->reward_min == in->reward_max && in->rows > 1)
        say(p, PESS_SEVERITY_WARNING, "constant-reward", in->rows, -1,
            "Every reward is %.6g: no policy is better than another on these data. Check that the reward column is the "
            "right one.",
            in->reward_min);
    say(p, PESS_SEVERITY_NOTE, "reward-range", in->rows, -1,
        "Rewards lie between %.6g and %.6g, mean %.6g. Bounds need the range that is possible, not the one that was "
        "seen: declare it.",
        in->reward_min, in->reward_max, in->reward_mean);
}

static void coverage(page *p) {
    const pess_inspection *in = p->in;
    say(p, PESS_SEVERITY_NOTE, "coverage", in->pairs_seen, -1,
        "The log shows %lld of the %lld state-action pairs of the states in which actions were taken (%.3g %%).%s",
        (long long)in->pairs_seen, (long long)in->pairs,
        in->pairs > 0 ? 100 * (double)in->pairs_seen / (double)in->pairs : 0,
        in->pairs_seen < in->pairs ? " What is not seen cannot be learnt, only avoided." : "");
    if (in->actions_seen < in->actions)
        say(p, PESS_SEVERITY_NOTE, "unused-actions", in->actions - in->actions_seen, -1,
            "Actions that were never taken: %lld of %lld.", (long long)(in->actions - in->actions_seen),
            (long long)in->actions);
}

static void sizes(page *p) {
    const pess_dataset *d = p->data;
    if (d->states_declared && d->actions_declared) return;
    say(p, PESS_SEVERITY_NOTE, "sizes-from-log", 1, -1,
        "The number of %s (%lld state%s, %lld action%s) is taken from the log. If there are more than it shows, "
        "declare "
        "it: bounds depend on it.",
        d->states_declared    ? "actions"
        : d->actions_declared ? "states"
                              : "states and actions",
        (long long)d->states, d->states == 1 ? "" : "s", (long long)d->actions, d->actions == 1 ? "" : "s");
}

static void ends(page *p) {
    const pess_inspection *in = p->in;
    if (in->cutoffs > 0)
        say(p, PESS_SEVERITY_NOTE, "cut-offs", in->cutoffs, -1,
            "Cut-off (truncated) transitions: %lld. They lead on to states whose future the log does not show, and "
            "never count as an end of value 0.",
            (long long)in->cutoffs);
    if (in->terminals + in->cutoffs == 0 && in->episodes == 0)
        say(p, PESS_SEVERITY_NOTE, "no-episodes", 1, -1,
            "The log has no ends and no episodes: it is taken as single transitions of a process that never ends. To "
            "be declared: the discount gamma (below 1), the start distribution, the reward range, and the number of "
            "states and actions where the log does not show all.");
    else if (in->terminals == 0)
        say(p, PESS_SEVERITY_NOTE, "no-terminals", 1, -1,
            "No transition is terminal: the process is taken as going on for ever, so gamma has to be below 1. If "
            "episodes do end, add the column terminal.");
}

pess_status pess__findings_write(const pess__inspected *found, pess_inspection *inspection, pess_error *error) {
    static void (*const all[])(page *) = {after_terminal, after_cutoff,  gaps,      late_starts, duplicates,
                                          copies,         probabilities, next_only, open_ends,   formulas,
                                          rewards,        coverage,      ends,      sizes};
    enum { MOST = 2 * sizeof all / sizeof all[0] };
    page p = {found, found->data, inspection, NULL, 0};
    PESS_TRY(pess__allocate(&p.findings, MOST, sizeof *p.findings, "findings", error));
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) all[i](&p);
    size_t warnings = 0; /* warnings before notes, otherwise in the order above */
    for (size_t i = 0; i < p.count; i++) {
        if (p.findings[i].severity != PESS_SEVERITY_WARNING) continue;
        const pess_finding keep = p.findings[i];
        memmove(&p.findings[warnings + 1], &p.findings[warnings], (i - warnings) * sizeof keep);
        p.findings[warnings++] = keep;
    }
    inspection->findings = p.findings;
    inspection->finding_count = p.count;
    return PESS_OK;
}

const pess_finding *pess__finding(const pess_inspection *inspection, const char *code) {
    for (size_t i = 0; i < inspection->finding_count; i++)
        if (strcmp(inspection->findings[i].code, code) == 0) return &inspection->findings[i];
    return NULL;
}

bool pess__episodes_are_whole(const pess_inspection *inspection) {
    static const char *const against[] = {"terminal-continues", "cutoff-continues", "episode-gap", "late-starts",
                                          "duplicate-step"};
    for (size_t i = 0; i < sizeof against / sizeof against[0]; i++)
        if (pess__finding(inspection, against[i])) return false;
    return true;
}
