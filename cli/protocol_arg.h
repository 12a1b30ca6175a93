/* Protocols of trainings as options: one by name, and numbers in place of its own. */
#ifndef PESS_CLI_PROTOCOL_ARG_H
#define PESS_CLI_PROTOCOL_ARG_H

#include "command.h"

typedef struct protocol_arg {
    const char *name;
    pess_protocol numbers; /* as far as given */
    const char *except;    /* settings that are no options of the command, or another's of the same name; NULL: none */
} protocol_arg;

void protocol_add_options(protocol_arg *arg, option_list *list);
/* -1, or the exit code after a message that there is no protocol of that name. */
int protocol_check(const protocol_arg *arg, const char *command_name);
/* The named protocol or the one for such data, and what was given instead; an exit code. */
int protocol_settle(const protocol_arg *arg, const option_list *list, const char *command_name,
                    const pess_observations *data, double gamma, pess_protocol *out);

#endif
