/* What columns are called: the roles' own names, and those that everybody uses for them. */
#include "core/status.h"
#include "data/reading.h"

#include <string.h>
#include <strings.h>

/* In lower case, without blanks, dots, hyphens and underscores. `done` also marks time limits, so any other sign of a
 * terminal row is a better one. */
static const struct {
    pess__role role;
    int rank;
    const char *names;
} aliases[] = {
    {PESS__ROLE_STATE, 2, "s obs observation observations states stateid obsid"},
    {PESS__ROLE_ACTION, 2, "a act actions actionid"},
    {PESS__ROLE_REWARD, 2, "r rew rewards"},
    {PESS__ROLE_NEXT_STATE, 2, "nextobs nextobservation nextobservations nextstates nexts snext statenext newstate s2"},
    {PESS__ROLE_TERMINAL, 2, "terminals terminated termination terminations isterminal"},
    {PESS__ROLE_TERMINAL, PESS__RANK_OF_DONE, "done dones isdone"},
    {PESS__ROLE_TRUNCATED, 2, "truncation truncations istruncated timeout timeouts cutoff"},
    {PESS__ROLE_EPISODE, 2, "episodes episodeid ep traj trajid trajectory trajectoryid mdpid"},
    {PESS__ROLE_STEP, 2, "stepid timestep timesteps t timestamp sequencenumber"},
    {PESS__ROLE_PROBABILITY, 2, "prob actionprob actionprobability pscore propensity"},
};

static const char often_episodes[] = "patient patientid subject subjectid user userid session sessionid stay stayid "
                                     "icustayid hadmid admission admissionid visit visitid customer customerid game "
                                     "gameid trial trialid device deviceid";

enum { SIMPLE_SIZE = 40 };

/* The name as the table has it; "" where it is too long for that. */
static void simplify(const char *name, size_t length, char out[SIMPLE_SIZE]) {
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = name[i];
        if (c == '_' || c == '-' || c == ' ' || c == '.') continue;
        if (used + 1 == SIMPLE_SIZE) used = length = 0;
        if (length > 0) out[used++] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    out[used] = '\0';
}

pess__role pess__role_called(const char *name, size_t length) {
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++)
        if (strlen(pess__role_name[role]) == length && memcmp(pess__role_name[role], name, length) == 0)
            return (pess__role)role;
    return PESS__ROLE_IGNORED;
}

pess__role pess__role_of_name(const char *name, size_t length, int *rank) {
    char simple[SIMPLE_SIZE], own[SIMPLE_SIZE];
    *rank = 0;
    const pess__role called = pess__role_called(name, length);
    if (called != PESS__ROLE_IGNORED) return called;
    *rank = 1;
    simplify(name, length, simple);
    if (simple[0] == '\0') return PESS__ROLE_IGNORED;
    for (int role = PESS__ROLE_STATE; role < PESS__ROLES; role++) {
        simplify(pess__role_name[role], strlen(pess__role_name[role]), own);
        if (strcmp(simple, own) == 0) return (pess__role)role;
    }
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        *rank = aliases[i].rank;
        if (pess_setting_listed(aliases[i].names, simple)) return aliases[i].role;
    }
    return PESS__ROLE_IGNORED;
}

pess__role pess__role_suggested(const char *name, size_t length) {
    char simple[SIMPLE_SIZE];
    simplify(name, length, simple);
    return simple[0] != '\0' && pess_setting_listed(often_episodes, simple) ? PESS__ROLE_EPISODE : PESS__ROLE_IGNORED;
}
