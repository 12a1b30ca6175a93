#include "command.h"
int cmd_env(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        pess_trace_report r; pess_error e;
        if (pess_trace_replay(argv[i], &r, &e) != PESS_OK) { printf("%s\n", e.message); continue; }
        printf("%s: %s steps %ld draws %ld line %ld %s\n", argv[i], r.conforms ? "ok" : "NO", r.steps, r.draws, r.line, r.conforms ? "" : r.text);
    }
    return 0;
}
