/* Whole episodes of a policy. */
#ifndef PESS_DEEP_PLAY_H
#define PESS_DEEP_PLAY_H

#include "data/observations.h"
#include "env/settings.h"
#include "policy/policy.h"

/* What else is measured while a policy plays: means over episodes. */
typedef struct pess__play_measures {
    double gamma;                  /* given */
    const pess_observations *data; /* given; NULL: none */
    double predicted;              /* what the policy expects in the first state; NAN */
    double obtained;               /* return, discounted by gamma */
    double outside;                /* share of steps in states that are not in the data; NAN without */
} pess__play_measures;

/* policy NULL: uniformly random; measures may be NULL. */
pess_status pess__play(const pess_policy *policy, const pess_play_options *options, pess__play_measures *measures,
                       pess_play_result *out, pess_error *error);
/* The game of these environments, as it is played there. */
void pess__play_in(pess_play_options *options, const pess_env_options *env);

/* Rows that players and collections share. */
#define PESS__EPSILON_SETTING(type)                                                                                    \
    {                                                                                                                  \
        .name = "epsilon", .kind = PESS_SETTING_NUMBER, PESS__FIELD(type, epsilon), .standard = "0",                   \
        PESS__FROM_TO(0, 1), .argument = "E",                                                                          \
        .sentence = "probability of a uniformly random action in place of the policy's"                                \
    }
#define PESS__ARGMAX_SETTING(type)                                                                                     \
    {                                                                                                                  \
        .name = "argmax", .kind = PESS_SETTING_SWITCH, PESS__FIELD(type, argmax), .standard = "off",                   \
        .sentence = "act by the most probable action, or a network's largest output, whatever the policy's rule"       \
    }

/* Where players and collections act: the environments of their options, from stream `first` of the seed on. */
#define PESS__ENVIRONMENTS(o, first)                                                                                   \
    {                                                                                                                  \
        .size = sizeof(pess_env_options), .game = (o)->game, .sticky = (o)->sticky, .ramping = (o)->ramping,           \
        .minimal_actions = (o)->minimal_actions, .step_limit = (o)->step_limit, .seed = (o)->seed, .stream = (first)   \
    }
/* `own` or `mdp`, where one of them is not NULL, in place of the game. */
pess_status pess__open_batch(const pess_env_callbacks *own, const pess_mdp *mdp, const pess_env_options *env,
                             int64_t count, pess_batch **out, pess_error *error);

/* PESS_INPUT where the policy sees something else than the environments of the batch show. */
pess_status pess__play_check(const pess_policy *policy, const pess_batch *batch, bool mdp, pess_error *error);

#endif
