#include "structure.h"

#include "command.h"

static void count_or_null(json_writer *json, const char *key, int64_t count) {
    if (count >= 0)
        json_count(json, key, count);
    else
        json_text(json, key, NULL);
}

void json_structure(json_writer *json, const pess_solution_info *info) {
    const pess_structure *found = &info->structure;
    json_text(json, "reason", info->reason);
    if (!found->measured) {
        json_text(json, "structure", NULL);
        return;
    }
    json_object(json, "structure");
    json_number(json, "deterministic", found->deterministic);
    json_count(json, "bandwidth", found->bandwidth);
    count_or_null(json, "sources", found->sources);
    count_or_null(json, "depth", found->depth);
    count_or_null(json, "components", found->components);
    count_or_null(json, "largest_component", found->largest_component);
    json_close(json);
}

void outcome_text(const pess_solution_info *info, char *text, size_t size) {
    static const char *const words[] = {[PESS_OUTCOME_CONVERGED] = "converged",
                                        [PESS_OUTCOME_ITERATION_LIMIT] = "stopped at the iteration limit",
                                        [PESS_OUTCOME_TIME_LIMIT] = "stopped at the time limit"};
    (void)snprintf(text, size, "%s after %lld iteration%s", words[info->outcome], (long long)info->iterations,
                   info->iterations == 1 ? "" : "s");
}

void print_structure(FILE *out, const char *indent, const pess_solution_info *info) {
    const pess_structure *found = &info->structure;
    if (!found->measured) return;
    if (info->reason != NULL) (void)fprintf(out, "%s%s\n", indent, info->reason);
    (void)fprintf(out, "%s%.3g %% of pairs have one outcome, successors within %lld state%s", indent,
                  100 * found->deterministic, COUNTED(found->bandwidth));
    if (found->depth >= 0) (void)fprintf(out, ", %lld step%s to an end or reward", COUNTED(found->depth));
    if (found->components >= 0)
        (void)fprintf(out, ", %lld component%s, the largest of %lld", COUNTED(found->components),
                      (long long)found->largest_component);
    (void)fputc('\n', out);
}
