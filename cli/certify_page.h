/* The page of `pess certify --report`: what was found, for people. */
#ifndef PESS_CLI_CERTIFY_PAGE_H
#define PESS_CLI_CERTIFY_PAGE_H

#include "command.h"

typedef struct certify_page {
    const char *log, *directory;
    int argc;
    char **argv; /* the command, to repeat it */
    pess_dataset *data;
    pess_counts *counts;
    pess_model *model;
    const pess_certificate_info *info;
    const pess_policy *policy;
    const double *start; /* [S]; NULL: the log's */
} certify_page;

/* Writes directory/index.html, whole or not at all. */
pess_status certify_page_write(const certify_page *page, pess_error *error);
void certify_page_free(certify_page *page);

#endif
