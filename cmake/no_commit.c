/* What the tests are linked with in place of the file that names the commit. */
#include "pess.h"

const char *pess_build(void) { return PESS_VERSION; }
