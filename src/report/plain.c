#include "report/plain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ numbers */

int pess__plain_decimals(double range, double difference) {
    const int coarse = range > 0 && isfinite(range) ? (int)fmin(fmax(3 - floor(log10(range)), 0), 9) : 3;
    const double size = fabs(difference);
    if (!(size > 0) || !isfinite(size)) return coarse;
    const int fine = (int)fmin(fmax(1 - floor(log10(size)), 0), 11);
    return fine <= coarse ? coarse : fine < coarse + 2 ? fine : coarse + 2;
}

/* "12345.670" -> "12,345.67" */
static void group(const char *digits, bool negative, char text[PESS__PLAIN]) {
    const char *point = strchr(digits, '.');
    const size_t whole = point ? (size_t)(point - digits) : strlen(digits);
    size_t at = 0, end = strlen(digits);
    while (point && end > whole && (digits[end - 1] == '0' || digits[end - 1] == '.')) end--;
    if (negative) text[at++] = '-';
    for (size_t i = 0; i < end; i++) {
        if (i > 0 && i < whole && (whole - i) % 3 == 0) text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
}

const char *pess__plain(double x, int decimals, pess__rounding rounding, char text[PESS__PLAIN]) {
    const double unit = pow(10, decimals), scaled = x * unit, near = round(scaled);
    if (!isfinite(x)) return "unknown";
    if (fabs(x) >= 1e15) return x > 0 ? "more than 1,000,000,000,000,000" : "less than -1,000,000,000,000,000";
    /* What differs from a shown number by rounding alone is that number. */
    const bool exact = fabs(scaled - near) < 1e-9 * fmax(1, fabs(scaled));
    const double shown = exact || rounding == PESS__ROUND_NEAR ? near
                         : rounding == PESS__ROUND_DOWN        ? floor(scaled)
                                                               : ceil(scaled);
    char digits[PESS__PLAIN];
    (void)snprintf(digits, sizeof digits, "%.*f", decimals, fabs(shown) / unit);
    group(digits, shown < 0, text);
    return text;
}

/* ------------------------------------------------------------------------------------------------ assumptions */

/* {0} and {1} stand for the assumption's numbers. What is not here is told in its own words. */
static const struct {
    const char *code, *words;
} plain_words[] = {
    {"markov", "What comes next depends on the state and the action that the log names, and on nothing else; it always "
               "does so in the same way."},
    {"markov-cells",
     "If the cells are good states (Markov): what comes next depends on the cell of the measurements and "
     "on the action, and on nothing else; it always does so in the same way. What is certified "
     "by whole episodes does not need this."},
    {"iid", "The rows of the log are independent of each other: the log does not say which belong together."},
    {"iid-declared", "The rows of the log are independent of each other: this was declared."},
    {"trajectories", "The log was collected episode by episode. What was tried may have depended on what came before."},
    {"trajectories-assumed", "The log was given as counts, which do not say how it was collected. What was tried may "
                             "have depended on what came before."},
    {"counts-alone", "Only counts of the log were at hand, not its rows, so nothing could be set aside as a test, "
                     "which would guarantee more."},
    {"counts-unchecked", "Nothing was counted twice, and what is missing is not missing because of how it turned out."},
    {"one-attempt", "This analysis was made once. Whoever repeats it with other settings and keeps the best result may "
                    "be fooled by luck."},
    {"one-logging-policy", "The present policy made the log, alone and without changing. Only the comparison with it "
                           "needs this."},
    {"behaviour-logged", "The log says how likely each action was when it was taken, and that is right."},
    {"behaviour-declared", "How decisions were made so far is known exactly: it was declared."},
    {"behaviour-estimated", "How likely each action was is estimated from the log. If the estimate is wrong, so may be "
                            "the guarantee."},
    {"behaviour-by-state", "So far, decisions at the same state were made in the same way all the time."},
    {"episodes-fresh", "Episodes are alike and do not influence each other: what happens in one does not change the "
                       "next. What happens within one may depend on things that the log does not show."},
    {"episodes-in-order", "Episodes stand in the log in the order in which they happened: earlier ones chose the new "
                          "policy, later ones tested it."},
    {"cutoffs-by-the-past", "Where the log breaks off an episode, it does not do so because of what was about to "
                            "happen. What followed counts with the worst that is possible."},
    {"cutoffs-continue", "Where the log breaks off within an episode ({0} in all), it is taken to have gone on from "
                         "there as usual."},
    {"open-ends",
     "{0} of {1} episodes stop in the log without a word on how they ended: they are taken to have gone on. "
     "If they ended there, the guarantee does not hold."},
    {"copied-rows", "Every row stands in the log {0} times, and each time it is something that really happened. If "
                    "they are copies, the guarantee does not hold."},
    {"horizon", "Nothing counts after step {0} of an episode. What happens at one step says nothing about another."},
    {"ends", "When an episode ends, nothing more is gained or lost."},
    {"may-end", "An episode may end at any step, although the log shows no end."},
    {"no-ends", "Episodes do not end by themselves."},
    {"states-from-log", "There are no other states than those in the log ({0})."},
    {"actions-from-log", "There are no other actions than those in the log ({0})."},
    {"rewards-from-log", "What a step brings is never below {0} nor above {1}, as in the log."},
    {"return-range-declared", "Whatever happens, what is left of an episode is worth at least {0} and at most {1}: "
                              "this was declared."},
    {"start-estimated", "Future episodes start as the {0} in the log did, independently of each other."},
    {"start-declared", "Episodes start as was declared; if nothing was, in each state equally often."},
    {"steps-missing",
     "Steps are missing in the log (gaps: {0}), and not because of how they turned out. The new policy "
     "could not be compared with the present one."},
    {"late-starts", "The first steps of some episodes are missing ({0} of them), and not because of how they turned "
                    "out. The new policy "
                    "could not be compared with the present one."},
    {"terminal-continues",
     "The log goes on after the end of an episode, which contradicts it. The new policy could not "
     "be compared with the present one."},
    {"cutoff-continues",
     "The log goes on with something else where it broke off an episode. The new policy could not be "
     "compared with the present one."},
    {"max-successors", "An action leads from a state to at most {0} different states: this was declared."},
    {"first-part-declared", "Which part of the log chooses the new policy ({0} rows) was fixed before anyone looked."},
    {"policy-without-second-part", "The new policy was made without the {0} rows that test it."},
    {"too-small-to-split", "The log is too small for a part of it to be set aside as a test."},
    {"coarse-test", "With {0} states the test is less sharp than it is with up to {1}."},
};

static void fill_in(const char *words, const double values[2], char text[PESS__PLAIN_SENTENCE]) {
    size_t at = 0;
    for (const char *w = words; *w != '\0' && at + PESS__PLAIN < PESS__PLAIN_SENTENCE; w++) {
        if (w[0] == '{' && (w[1] == '0' || w[1] == '1') && w[2] == '}') {
            char number[PESS__PLAIN];
            const double value = values[w[1] - '0'];
            at += (size_t)snprintf(text + at, PESS__PLAIN, "%s",
                                   pess__plain(value, pess__plain_decimals(1, value), PESS__ROUND_NEAR, number));
            w += 2;
        } else {
            text[at++] = *w;
        }
    }
    text[at] = '\0';
}

const char *pess__plain_assumption(const pess_assumption *assumption, char text[PESS__PLAIN_SENTENCE]) {
    for (size_t i = 0; i < sizeof plain_words / sizeof *plain_words; i++) {
        if (strcmp(plain_words[i].code, assumption->code) != 0) continue;
        if (strstr(plain_words[i].words, "{0}") != NULL && isnan(assumption->values[0])) break;
        fill_in(plain_words[i].words, assumption->values, text);
        return text;
    }
    return assumption->text;
}
