/* --policy random|FILE of the commands that act in a game. */
#ifndef PESS_CLI_POLICY_ARG_H
#define PESS_CLI_POLICY_ARG_H

#include "pess.h"

/* Reads the network and checks that it plays this game; "random" leaves *net NULL. Returns -1 to go on, or an exit code
 * after a message. */
int policy_open(const char *command, const char *policy, const pess_env_info *game, pess_net **net);
/* Whether the network acts by sampling, as its notes say; `argmax` overrules them. Returns the same. */
int policy_rule(const char *command, const char *policy, const pess_net *net, bool argmax, bool *sample);

#define ARGMAX_OPTION "act by the largest output, whatever the network's notes say (acts=softmax: it samples)"

#endif
