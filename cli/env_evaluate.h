/* pess env evaluate: how well a policy plays. */
#ifndef PESS_CLI_ENV_EVALUATE_H
#define PESS_CLI_ENV_EVALUATE_H

int env_evaluate(int argc, char **argv);

#endif
