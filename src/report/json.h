/* JSON in files that appear whole. */
#ifndef PESS_REPORT_JSON_H
#define PESS_REPORT_JSON_H

#include "core/outfile.h"

void pess__report_json_number(pess__outfile *file, double value); /* null where it is not finite */

#endif
