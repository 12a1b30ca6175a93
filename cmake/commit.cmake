# Writes build.c: the version and the commit it was built from. From git where there is a repository, else from
# commit.txt, which `git archive` fills in. The file changes only where the commit does.
file(STRINGS ${SOURCE_DIR}/cmake/commit.txt commit LIMIT_COUNT 1)
if(EXISTS ${SOURCE_DIR}/.git)
  execute_process(COMMAND git describe --always --dirty --tags WORKING_DIRECTORY ${SOURCE_DIR}
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit MATCHES "^[A-Za-z0-9._-]+$")
  set(text " (${commit})")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
"#include \"pess.h\"

const char *pess_build(void) { return PESS_VERSION \"${text}\"; }
")
