#include "policy_arg.h"

#include "command.h"

#include <string.h>

int policy_open(const char *command_name, const char *policy, const pess_env_info *game, pess_net **net) {
    *net = NULL;
    if (strcmp(policy, "random") == 0) return -1;
    pess_error error;
    if (pess_net_read(policy, NULL, net, &error) != PESS_OK) return report_error(command_name, &error);
    if (pess_net_check_game(*net, policy, game, &error) == PESS_OK) return -1;
    pess_net_destroy(*net);
    *net = NULL;
    return report_error(command_name, &error);
}

int policy_rule(const char *command_name, const char *policy, const pess_net *net, bool argmax, bool *sample) {
    *sample = false;
    if (net == NULL || argmax) return -1;
    pess_error error;
    if (pess_net_samples(net, policy, sample, &error) == PESS_OK) return -1;
    const int code = report_error(command_name, &error);
    (void)fputs("--argmax plays its largest output instead\n", stderr);
    return code;
}
