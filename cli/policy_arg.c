#include "policy_arg.h"

#include "command.h"

#include <string.h>
#include <sys/stat.h>

bool policy_is_run(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

int policy_open(const char *command_name, const char *policy, const pess_env_info *game, bool argmax,
                pess_policy **out) {
    *out = NULL;
    if (strcmp(policy, "random") == 0) return -1;
    pess_error error;
    pess_policy_info info = {0};
    pess_status status = pess_policy_read(policy, NULL, NULL, NULL, out, &error);
    if (status == PESS_OK) {
        pess_policy_get_info(*out, &info);
        status = pess_policy_check_game(*out, policy, game, argmax, &error);
    }
    if (status == PESS_OK) return -1;
    const int code = report_error(command_name, &error);
    if (info.partial) (void)fputs("--argmax plays its largest output instead\n", stderr);
    pess_policy_destroy(*out);
    *out = NULL;
    return code;
}
