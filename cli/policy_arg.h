/* --policy random|FILE of the commands that act in a game. */
#ifndef PESS_CLI_POLICY_ARG_H
#define PESS_CLI_POLICY_ARG_H

#include "pess.h"

/* Reads the policy and checks that it plays this game by its own rule or, where `argmax` is asked for, by its most
 * probable action; "random" leaves *out NULL. Returns -1 to go on, or an exit code after a message. */
int policy_open(const char *command, const char *policy, const pess_env_info *game, bool argmax, pess_policy **out);
/* Whether this is the directory of a training, which stands for the policy that it wrote. */
bool policy_is_run(const char *path);

#define POLICY_FILES "a .pesspolicy or .pessnet file"

#endif
