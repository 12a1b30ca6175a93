/* pess list: the tables of the library, as they are. */
#include "command.h"
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "alpha min-count" as options, or as an array. */
static void print_settings(const char *settings, json_writer *json) {
    if (json != NULL) json_array(json, "settings");
    for (const char *at = settings; at != NULL && *at != '\0';) {
        char name[80];
        const size_t length = strcspn(at, " ");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (json != NULL)
            json_text(json, NULL, name);
        else
            (void)printf("%s --%s", at == settings ? "    reads:" : ",", name);
        at += length + (at[length] == ' ');
    }
    if (json != NULL)
        json_close(json);
    else if (settings != NULL)
        (void)puts("");
}

static void list_algorithms(json_writer *json) {
    const pess_algorithm_info *a;
    for (size_t i = 0; (a = pess_algorithm_list(i)) != NULL; i++) {
        if (json != NULL) {
            json_object(json, NULL);
            json_text(json, "name", a->name);
            json_text(json, "summary", a->summary);
            json_text(json, "equation", a->equation);
            json_text(json, "source", a->source);
            json_text(json, "default_uncertainty", a->default_uncertainty);
            json_bool(json, "takes_sets_only", a->takes_sets_only);
            print_settings(a->settings, json);
            json_close(json);
            continue;
        }
        (void)printf("%s\n    %s\n    %s\n    source: %s\n", a->name, a->summary, a->equation, a->source);
        print_settings(a->settings, NULL);
        if (a->default_uncertainty != NULL)
            (void)printf("    default uncertainty: %s%s\n", a->default_uncertainty,
                         a->takes_sets_only ? "; only sets fit" : "");
        (void)puts("");
    }
}

static void list_uncertainties(json_writer *json) {
    static const char *const holds[] = {"nothing", "fixed-v", "everything"};
    const pess_uncertainty_info *u;
    for (size_t i = 0; (u = pess_uncertainty_list(i)) != NULL; i++) {
        if (json != NULL) {
            json_object(json, NULL);
            json_text(json, "name", u->name);
            json_text(json, "summary", u->summary);
            json_text(json, "formula", u->formula);
            json_text(json, "holds", holds[u->holds]);
            json_text(json, "holds_for", u->holds_for);
            json_bool(json, "certificate", u->holds == PESS_HOLDS_EVERYTHING);
            json_bool(json, "per_action", u->per_action);
            json_bool(json, "depends_on_values", u->depends_on_values);
            json_bool(json, "is_set", u->is_set);
            json_text(json, "absorbed", u->absorbed);
            print_settings(u->settings, json);
            json_close(json);
            continue;
        }
        (void)printf("%s\n    %s\n    u = %s\n    holds for: %s\n", u->name, u->summary, u->formula, u->holds_for);
        if (u->absorbed != NULL) (void)printf("    absorbed: %s\n", u->absorbed);
        print_settings(u->settings, NULL);
        if (u->is_set) (void)puts("    a set of models: fits the algorithm robust");
        (void)puts("");
    }
}

static void list_formats(json_writer *json) {
    const pess_format_info *f;
    for (size_t i = 0; (f = pess_format_list(i)) != NULL; i++) {
        if (json != NULL) {
            json_object(json, NULL);
            json_text(json, "name", f->name);
            json_text(json, "extensions", f->extensions);
            json_text(json, "summary", f->summary);
            json_bool(json, "reads", f->reads);
            json_bool(json, "writes", f->writes);
            json_close(json);
        } else {
            (void)printf("%-10s %-18s %s (%s%s%s)\n", f->name, f->extensions, f->summary, f->reads ? "read" : "",
                         f->reads && f->writes ? ", " : "", f->writes ? "write" : "");
        }
    }
}

/* min-count is min_count in JSON. */
static void key_of(const pess_setting *setting, char *key, size_t size) {
    (void)snprintf(key, size, "%s", setting->name);
    for (char *c = key; *c != '\0'; c++) *c = *c == '-' ? '_' : *c;
}

static void knobs_json(json_writer *json, const pess_setting_table *knobs) {
    json_object(json, "knobs");
    for (size_t k = 0; knobs != NULL && k < knobs->count; k++) {
        char key[64], expected[200];
        key_of(&knobs->rows[k], key, sizeof key);
        pess_setting_expected(&knobs->rows[k], expected, sizeof expected);
        json_object(json, key);
        json_text(json, "summary", knobs->rows[k].sentence);
        json_text(json, "default", knobs->rows[k].standard);
        json_text(json, "expected", expected);
        json_close(json);
    }
    json_close(json);
}

static void list_learners(json_writer *json) {
    const pess_learner_info *l;
    for (size_t i = 0; (l = pess_learner_list(i)) != NULL; i++) {
        if (json != NULL) {
            json_object(json, NULL);
            json_text(json, "name", l->name);
            json_text(json, "summary", l->summary);
            json_bool(json, "values", l->values);
            json_bool(json, "imitation", l->imitation);
            json_bool(json, "samples", l->samples);
            json_number(json, "absorbed_alpha", pess_learner_alpha(l));
            knobs_json(json, l->knobs);
            print_settings(l->settings, json);
            json_text(json, "source", l->source);
            json_text(json, "uncertainty", l->uncertainty);
            json_close(json);
            continue;
        }
        (void)printf("%s\n    %s\n", l->name, l->summary);
        for (size_t k = 0; l->knobs != NULL && k < l->knobs->count; k++) {
            const pess_setting *knob = &l->knobs->rows[k];
            char expected[200];
            pess_setting_expected(knob, expected, sizeof expected);
            (void)printf("    takes --%s: %s (default %s; %s)\n", knob->name, knob->sentence, knob->standard, expected);
        }
        print_settings(l->settings, NULL);
        (void)printf("    source: %s\n", l->source);
    }
}

static void list_neural_uncertainties(json_writer *json) {
    const pess_neural_uncertainty_info *u;
    for (size_t i = 0; (u = pess_neural_uncertainty_list(i)) != NULL; i++) {
        if (json != NULL) {
            json_object(json, NULL);
            json_text(json, "name", u->name);
            json_text(json, "summary", u->summary);
            json_text(json, "formula", u->formula);
            json_text(json, "outside", u->outside);
            json_number(json, "cap", u->cap);
            json_bool(json, "imitation", u->imitation);
            json_close(json);
            continue;
        }
        (void)printf("%s\n    %s\n    u = %s\n    outside the data: %s\n", u->name, u->summary, u->formula, u->outside);
        if (isfinite(u->cap)) (void)printf("    takes --u-cap (default %g)\n", u->cap);
    }
}

static void print_protocol(const pess_protocol_info *info, const pess_protocol *p) {
    char updates[100] = "", imitation[100] = "";
    if (info->ranges == NULL) {
        (void)snprintf(updates, sizeof updates, "%lld updates x %lld steps x ", (long long)p->updates,
                       (long long)p->steps);
        (void)snprintf(imitation, sizeof imitation, "%lld steps x ", (long long)p->imitation_steps);
    }
    (void)printf("%s\n    %s\n", p->name, info->summary);
    if (info->ranges != NULL) (void)printf("    %s\n", info->ranges);
    (void)printf("    %sbatch %lld, step size %g to %g, network %s\n"
                 "    imitation %sbatch %lld, step size %g to %g; %lld transitions\n",
                 updates, (long long)p->batch, p->rate, p->rate_last,
                 p->reset ? "new at each update" : "kept between updates", imitation, (long long)p->imitation_batch,
                 p->imitation_rate, p->imitation_rate_last, (long long)p->transitions);
}

static void list_protocols(json_writer *json) {
    const pess_protocol_info *info;
    for (size_t i = 0; (info = pess_protocol_list(i)) != NULL; i++) {
        pess_protocol p;
        pess_error error;
        if (pess_protocol_find(info->name, &p, &error) != PESS_OK) continue;
        if (json != NULL) {
            json_object(json, NULL);
            json_text(json, "name", info->name);
            json_text(json, "summary", info->summary);
            if (info->ranges != NULL) json_text(json, "ranges", info->ranges);
            for (size_t k = 0; k < pess_protocol_settings()->count; k++)
                pess_json_put_setting(json, pess_protocol_settings(), &p, pess_protocol_settings()->rows[k].name);
            json_close(json);
            continue;
        }
        print_protocol(info, &p);
    }
}

static void list_networks(json_writer *json) {
    const pess_network_info *network;
    for (size_t i = 0; (network = pess_network_list(i)) != NULL; i++) {
        if (json == NULL) {
            (void)printf("%s\n    %s\n    %s\n", network->name, network->summary, network->layers);
            continue;
        }
        json_object(json, NULL);
        json_text(json, "name", network->name);
        json_text(json, "summary", network->summary);
        json_text(json, "layers", network->layers);
        json_close(json);
    }
}

static void list_experiments(json_writer *json) {
    const pess_experiment_info *info;
    for (size_t i = 0; (info = pess_experiment_list(i)) != NULL; i++) {
        if (json == NULL) {
            (void)printf("%-24s %s\n", info->name, info->summary);
            continue;
        }
        json_object(json, NULL);
        json_text(json, "name", info->name);
        json_text(json, "summary", info->summary);
        json_text(json, "axis", info->x.name);
        const pess_setting *trials = pess_setting_find(pess_experiment_settings_of(info->name), "trials");
        json_count(json, "default_trials", strtoll(trials->standard, NULL, 10));
        json_close(json);
    }
}

#define KINDS "algorithms, uncertainties, formats, learners, neural-uncertainties, networks, protocols or experiments"

static const usage list_usage = {
    .command = "list",
    .summary = "what there is, with equations, sources and the options that each reads",
    .arguments =
        "algorithms|uncertainties|formats|learners|neural-uncertainties|networks|protocols|experiments [--json]",
    .examples = "  pess list algorithms\n  pess list uncertainties --json",
    .positional = (const char *const[]){"one of " KINDS, NULL},
};

int cmd_list(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*print)(json_writer *json);
    } tables[] = {
        {"algorithms", list_algorithms},   {"uncertainties", list_uncertainties},
        {"formats", list_formats},         {"learners", list_learners},
        {"protocols", list_protocols},     {"neural-uncertainties", list_neural_uncertainties},
        {"experiments", list_experiments}, {"networks", list_networks},
    };
    bool as_json = false;
    const option rows[] = {{"json", 0, OPTION_FLAG, &as_json, NULL, "print the result as JSON"}};
    const char *what = NULL;
    const int code = options_parse(&list_usage, rows, COUNT_OF(rows), argc, argv, &what, NULL);
    if (code >= 0) return code;
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        if (strcmp(tables[i].name, what) != 0) continue;
        if (!as_json) {
            tables[i].print(NULL);
            return EXIT_FINE;
        }
        json_writer json = json_open("list");
        json_text(&json, "table", what);
        json_array(&json, "rows");
        tables[i].print(&json);
        json_close(&json);
        json_close(&json);
        json_end(&json);
        return EXIT_FINE;
    }
    return report_usage("list", "found '%s', expected " KINDS, what);
}
