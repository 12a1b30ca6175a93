/* JSON into files that appear whole or not at all. */
#ifndef PESS_CORE_JSON_WRITER_H
#define PESS_CORE_JSON_WRITER_H

#include "core/outfile.h"

pess_json_writer pess__json_begin(pess__outfile *file, pess_json_style style);

#endif
