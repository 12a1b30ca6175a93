/* How the policies that may be tested on whole episodes are made of a part of the log: every family of algorithms with
 * some of its strengths, the behaviour and tilts of it, and mixtures of these with the behaviour. */
#ifndef PESS_CERTIFY_EPISODE_RECIPES_H
#define PESS_CERTIFY_EPISODE_RECIPES_H

#include "certify/choosing.h"
#include "solve/families.h"

enum { PESS__RECIPES = 128 };

typedef enum pess__recipe_kind {
    PESS__RECIPE_GIVEN, /* options->policy */
    PESS__RECIPE_BEHAVIOUR,
    PESS__RECIPE_ALGORITHM,
    PESS__RECIPE_TILT /* of the behaviour, towards what the model holds to be better */
} pess__recipe_kind;

typedef struct pess__recipe {
    pess__recipe_kind kind;
    const pess__family *family; /* of an algorithm, and which of its strengths */
    int strength;
    double divergence, shrinkage; /* of a tilt */
    double share;                 /* of the policy; the rest is the behaviour as known or estimated */
} pess__recipe;

/* All but mixtures, into out [PESS__RECIPES]; returns how many. */
int pess__recipe_list(const pess__certification *job, pess__recipe *out);
void pess__recipe_name(const pess__recipe *recipe, char *text, size_t size);

/* The policy that the recipe makes of `fit`, one of `choosing`. */
pess_status pess__recipe_make(const pess__certification *job, const pess__choosing *choosing, const pess__fit *fit,
                              const pess__recipe *recipe, pess_policy **out, pess_error *error);
/* q̂ − lo of the policy in the model of `fit`, [S*A] between 0 and hi − lo, and 0 where the behaviour is not known: for
 * doubly robust bets, where any would be valid. */
pess_status pess__recipe_values(const pess__certification *job, const pess__choosing *choosing, const pess__fit *fit,
                                const pess_policy *policy, double **out, pess_error *error);

#endif
