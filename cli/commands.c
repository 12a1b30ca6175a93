/* Commands by name: finding them, suggesting the nearest, and walking through all of them with all their options. */
#include "command.h"

#include <string.h>

static const visitor *visiting; /* NULL: help is printed */

bool visit_help(const usage *use, const option *options, size_t count) {
    if (visiting == NULL) return false;
    if (visiting->command != NULL) visiting->command(visiting->user, use, options, count);
    return true;
}

static void ask_for_help(const command *row) {
    char name[40], help[] = "--help";
    (void)snprintf(name, sizeof name, "%s", row->name);
    char *arguments[] = {name, help, NULL};
    (void)row->run(2, arguments);
}

void visit_commands(const command *commands, size_t count, const visitor *visit) {
    visiting = visit;
    for (size_t i = 0; i < count; i++) ask_for_help(&commands[i]);
    visiting = NULL;
}

const command *find_command(const command *commands, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static size_t smallest(size_t a, size_t b, size_t c) {
    const size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Insertions, deletions and changes that make a of b. */
size_t edit_distance(const char *a, const char *b) {
    size_t row[64];
    const size_t n = strlen(b) < 63 ? strlen(b) : 63;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            const size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = smallest(change, row[j] + 1, row[j - 1] + 1);
        }
    }
    return row[n];
}

int unknown_command(const char *of, const command *commands, size_t count, const char *found) {
    const char *nearest = NULL;
    size_t least = 3;
    for (size_t i = 0; i < count; i++) {
        const size_t distance = edit_distance(found, commands[i].name);
        if (distance >= least) continue;
        least = distance;
        nearest = commands[i].name;
    }
    const char *space = *of != '\0' ? " " : "";
    if (nearest != NULL)
        return report_wrong("%s%s%s: no command '%s'; did you mean '%s%s%s %s'?", program_name, space, of, found,
                            program_name, space, of, nearest);
    return report_wrong("%s%s%s: no command '%s'; '%s help%s%s' lists the commands", program_name, space, of, found,
                        program_name, space, of);
}

static void print_parts(FILE *stream, const char *name, const command *parts, size_t count) {
    (void)fprintf(stream, "Usage: pess %s COMMAND [arguments]\n\nCommands:\n", name);
    for (size_t i = 0; i < count; i++) (void)fprintf(stream, "  %-12s %s\n", parts[i].name, parts[i].summary);
    (void)fprintf(stream, "\n'pess help %s COMMAND' has the options of each.\n", name);
}

int run_part(const char *name, const command *parts, size_t count, int argc, char **argv) {
    if (argc < 2) {
        print_parts(stderr, name, parts, count);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        if (visiting == NULL) print_parts(stdout, name, parts, count);
        if (visiting != NULL && visiting->parts != NULL) visiting->parts(visiting->user, name, parts, count);
        for (size_t i = 0; visiting != NULL && i < count; i++) ask_for_help(&parts[i]);
        return EXIT_FINE;
    }
    const command *part = find_command(parts, count, argv[1]);
    return part != NULL ? part->run(argc - 1, argv + 1) : unknown_command(name, parts, count, argv[1]);
}
