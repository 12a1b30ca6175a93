/* The whole program in one process, a command after another, with libfaults.so preloaded: tests/faults.py asks for
 * thousands of commands, and a process for each would take most of the time.
 *
 * A request is a line "FAULT TAB FOLDER TAB WORD TAB …": the command's words, run in the folder with the fault
 * ("memory:17", "io:17", "none"); what it prints goes to the files out and err beside the folder. The answer is a line
 * "code memory io live": the exit code, how many allocations and calls on files there were, and how many allocations
 * were not freed. */
#include "../../cli/command.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 64 };

int pess_main(int argc, char **argv); /* cli/main.c */

/* Those of tests/tools/faults.c. */
static void (*begin)(const char *fault);
static void (*end)(long *memory, long *io, long *live);

static bool find_faults(void) {
    void *const first = dlsym(RTLD_DEFAULT, "faults_begin"), *const last = dlsym(RTLD_DEFAULT, "faults_end");
    memcpy(&begin, &first, sizeof first);
    memcpy(&end, &last, sizeof last);
    return begin != NULL && end != NULL;
}

/* The program's streams are made anew by every command (cli/shown.c), on these descriptors. */
static void send_to(const char *path, int descriptor) {
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0) abort();
    (void)dup2(file, descriptor);
    (void)close(file);
}

static int run(int argc, char **argv, const char *fault, long counts[3]) {
    FILE *const streams[2] = {stdout, stderr};
    memset(&asked, 0, sizeof asked);
    pess_set_max_memory(0);
    begin(fault);
    const int code = pess_main(argc, argv);
    end(&counts[0], &counts[1], &counts[2]);
    if (stdout != streams[0]) (void)fclose(stdout);
    if (stderr != streams[1]) (void)fclose(stderr);
    stdout = streams[0];
    stderr = streams[1];
    return code;
}

int main(void) {
    if (!find_faults()) return 2;
    const int answers = dup(STDOUT_FILENO);
    char *line = NULL;
    size_t room = 0;
    char name[] = "pess";
    while (getline(&line, &room, stdin) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *rest = line, *words[WORDS] = {name};
        const char *const fault = strsep(&rest, "\t"), *const folder = strsep(&rest, "\t");
        int count = 1;
        while (rest != NULL && count < WORDS - 1) words[count++] = strsep(&rest, "\t");
        if (folder == NULL || chdir(folder) != 0) return 2;
        send_to("../out", STDOUT_FILENO);
        send_to("../err", STDERR_FILENO);
        long counts[3] = {0};
        const int code = run(count, words, fault, counts);
        (void)dprintf(answers, "%d %ld %ld %ld\n", code, counts[0], counts[1], counts[2]);
    }
    free(line);
    return 0;
}
