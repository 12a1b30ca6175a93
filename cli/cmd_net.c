/* pess net: what is in a file of networks, and taking it elsewhere. */
#include "command.h"
#include "notes.h"
#include "policy_arg.h"

#include <string.h>

static const usage info_usage = {
    .command = "net info",
    .summary = "what is in a network or a policy of networks, and how it was trained",
    .arguments = "FILE [--json]",
    .description = "For a network (.pessnet): layers, parameters and checksum. For a policy (.pesspolicy, or "
                   "the directory of a training): the rule by "
                   "which it acts, how many networks and parameters it has, and what they observe.",
    .examples = "  pess net info policies/breakout.pessnet\n  pess net info b-proximal/policy.pesspolicy",
    .positional = (const char *const[]){"FILE", NULL},
};

static void print_text(const pess_net *net, const char *path, const pess_net_info *info) {
    (void)printf("%s: %d × %d × %d %s -> %d outputs, %lld parameters, checksum %08x\n\n", path, info->rows, info->cols,
                 info->channels, pess_observation_kind_name(info->input), info->outputs, (long long)info->parameters,
                 info->checksum);
    pess_net_layer l;
    for (int i = 0; pess_net_get_layer(net, i, &l); i++) {
        (void)printf("  %d  %-5s", i + 1, l.kind);
        if (l.kernel > 0)
            (void)printf(" %d×%d stride %d", l.kernel, l.kernel, l.stride);
        else
            (void)printf(" %12s", "");
        (void)printf("  -> %d×%d×%-4d %8lld parameters", l.rows, l.cols, l.outputs, (long long)l.parameters);
        if (l.slope <= 0)
            (void)printf("  ReLU\n");
        else if (l.slope < 1)
            (void)printf("  leaky ReLU %g\n", l.slope);
        else
            (void)printf("\n");
    }
    (void)printf("\n  computes with %s\n", info->kernels);
    notes_print("trained with", info->notes);
}

static void print_json(const pess_net *net, const char *path, const pess_net_info *info) {
    json_writer json = json_open("net info");
    json_text(&json, "file", path);
    json_text(&json, "input", pess_observation_kind_name(info->input));
    json_count(&json, "rows", info->rows);
    json_count(&json, "cols", info->cols);
    json_count(&json, "channels", info->channels);
    json_count(&json, "outputs", info->outputs);
    json_count(&json, "parameters", info->parameters);
    char checksum[16];
    (void)snprintf(checksum, sizeof checksum, "%08x", info->checksum);
    json_text(&json, "checksum", checksum);
    json_text(&json, "kernels", info->kernels);
    json_array(&json, "layers");
    pess_net_layer l;
    for (int i = 0; pess_net_get_layer(net, i, &l); i++) {
        json_object(&json, NULL);
        json_text(&json, "kind", l.kind);
        json_count(&json, "kernel", l.kernel);
        json_count(&json, "stride", l.stride);
        json_count(&json, "outputs", l.outputs);
        json_number(&json, "slope", l.slope);
        json_count(&json, "parameters", l.parameters);
        json_close(&json);
    }
    json_close(&json);
    notes_json(&json, "trained", info->notes);
    json_close(&json);
    json_end(&json);
}

/* ---- policies of networks */

/* What the actions stand for: names, or vectors. */
static void print_actions(const pess_policy_info *info) {
    for (int64_t a = 0; a < info->actions && (info->action_width > 0 || info->action_names != NULL); a++) {
        (void)printf("  action %lld%s%s", (long long)a, info->action_names != NULL ? " " : "",
                     info->action_names != NULL ? pess_names_get(info->action_names, a) : "");
        for (int64_t k = 0; k < info->action_width; k++)
            (void)printf("%s%g", k > 0 ? ", " : " is ", (double)info->action_values[a * info->action_width + k]);
        (void)putchar('\n');
    }
}

static void print_policy(const char *path, const pess_policy_info *info) {
    (void)printf("%s: acts by the rule of %s%s\n\n  %lld network%s, %lld parameters, checksum %08x\n"
                 "  sees %lld %s, chooses among %lld actions, computes with %s\n",
                 path, info->rule, info->samples ? " (by sampling)" : "", (long long)info->network_count,
                 info->network_count == 1 ? "" : "s", (long long)info->parameters, info->checksum,
                 (long long)info->shape.length, pess_observation_kind_name(info->shape.kind), (long long)info->actions,
                 info->kernels);
    print_actions(info);
    notes_print("trained with", info->notes);
}

/* Beside the number of actions: their names, and the vectors that they stand for. */
static void json_actions(json_writer *json, const pess_policy_info *info) {
    if (info->action_names != NULL) {
        json_array(json, "action_names");
        for (int64_t a = 0; a < info->actions; a++) json_text(json, NULL, pess_names_get(info->action_names, a));
        json_close(json);
    }
    if (info->action_width == 0) return;
    json_array(json, "action_values");
    for (int64_t a = 0; a < info->actions; a++) {
        json_array(json, NULL);
        for (int64_t k = 0; k < info->action_width; k++)
            json_number(json, NULL, (double)info->action_values[a * info->action_width + k]);
        json_close(json);
    }
    json_close(json);
}

static void print_policy_json(const char *path, const pess_policy_info *info) {
    char checksum[16];
    (void)snprintf(checksum, sizeof checksum, "%08x", info->checksum);
    json_writer json = json_open("net info");
    json_text(&json, "file", path);
    json_text(&json, "rule", info->rule);
    json_bool(&json, "samples", info->samples);
    json_count(&json, "networks", info->network_count);
    json_count(&json, "parameters", info->parameters);
    json_text(&json, "checksum", checksum);
    json_text(&json, "kernels", info->kernels);
    json_text(&json, "input", pess_observation_kind_name(info->shape.kind));
    json_count(&json, "length", info->shape.length);
    json_count(&json, "bytes", info->bytes);
    json_count(&json, "actions", info->actions);
    json_actions(&json, info);
    notes_json(&json, "trained", info->notes);
    json_close(&json);
    json_end(&json);
}

static int policy_info(const char *path, bool json) {
    pess_policy *policy = NULL;
    pess_error error;
    if (pess_policy_read(path, NULL, NULL, NULL, &policy, &error) != PESS_OK) return report_error("net info", &error);
    pess_policy_info info;
    pess_policy_get_info(policy, &info);
    if (json)
        print_policy_json(path, &info);
    else
        print_policy(path, &info);
    pess_policy_destroy(policy);
    return EXIT_FINE;
}

static int net_info(int argc, char **argv) {
    bool json = false;
    const option options[] = {{"json", 0, OPTION_FLAG, &json, NULL, "print the result as JSON"}};
    const char *values[1];
    const int code = options_parse(&info_usage, options, COUNT_OF(options), argc, argv, values, NULL);
    if (code >= 0) return code;
    if (policy_is_run(values[0]) || pess_file_kind_of(values[0]) == PESS_FILE_POLICY)
        return policy_info(values[0], json);
    pess_net *net = NULL;
    pess_error error;
    if (pess_net_read(values[0], NULL, &net, &error) != PESS_OK) return report_error("net info", &error);
    pess_net_info info;
    pess_net_get_info(net, &info);
    if (json)
        print_json(net, values[0], &info);
    else
        print_text(net, values[0], &info);
    pess_net_destroy(net);
    return EXIT_FINE;
}

/* ---- export */

static const usage export_usage = {
    .command = "net export",
    .summary = "a policy as a file for other programs: C, ONNX, or NumPy arrays",
    .arguments = "POLICY -o FILE.c|FILE.onnx|FILE.npz",
    .description =
        "POLICY is a .pesspolicy or .pessnet file that acts by the outputs of its networks: all learners but those "
        "that look up counts of their data. FILE.c has everything in it, no library and no allocation: "
        "policy_act(observation) and policy_probabilities(observation, probabilities), with the same bits as here. "
        "FILE.onnx takes observations [batch, numbers] and gives action and probabilities, or action and values where "
        "the rule takes the largest. FILE.npz has the weights of the one network that decides, by PyTorch's names "
        "(layer1.weight, layer1.bias, …), and shift and scale of float observations.",
    .examples = "  pess net export cartpole-cql/policy.pesspolicy -o policy.c\n"
                "  pess net export cartpole-cql/policy.pesspolicy -o policy.onnx\n"
                "  pess net export policies/breakout.pessnet -o breakout.npz",
    .positional = (const char *const[]){"POLICY", NULL},
};

static int net_export(int argc, char **argv) {
    const char *out = NULL, *path = NULL;
    const option options[] = {
        {"out", 'o', OPTION_TEXT, &out, "FILE", "where to write, by its ending .c, .onnx or .npz"}};
    const int code = options_parse(&export_usage, options, COUNT_OF(options), argc, argv, &path, NULL);
    if (code >= 0) return code;
    if (out == NULL) return report_usage("net export", "-o FILE is needed");
    pess_policy *policy = NULL;
    pess_error error;
    pess_status status = pess_policy_read(path, NULL, NULL, NULL, &policy, &error);
    if (status == PESS_OK) status = pess_policy_export(policy, out, &error);
    pess_policy_destroy(policy);
    return status == PESS_OK ? EXIT_FINE : report_error("net export", &error);
}

/* ---- import */

static const usage import_usage = {
    .command = "net import",
    .summary = "a policy from weights that another program trained, as NumPy arrays",
    .arguments = "ARRAYS.npz -o POLICY.pesspolicy [options]",
    .description =
        "ARRAYS.npz is a state dict of PyTorch: numpy.savez('ARRAYS.npz', **{k: v.numpy() for k, v in "
        "net.state_dict().items()}). Its layers are the arrays NAME.weight and NAME.bias in the order of the file; "
        "shift and scale, if they are there, are applied to the observations first, (v - shift)*scale. What pess net "
        "export wrote comes back with the same bits. Arrays that are missing, left over or of another shape than the "
        "network's are refused by name.",
    .examples = "  pess net import dqn.npz -o dqn.pesspolicy\n"
                "  pess net import atari.npz --network nature --board 84x84x4 --input bytes -o atari.pesspolicy",
    .positional = (const char *const[]){"ARRAYS", NULL},
};

static int net_import(int argc, char **argv) {
    pess_import_options import = pess_import_options_defaults();
    const char *out = NULL, *path = NULL;
    option_list list = {.count = 0};
    options_add_settings(&list, pess_import_settings(), &import, NULL);
    options_add(&list, (option){"out", 'o', OPTION_TEXT, &out, "FILE", "where to write the policy"});
    const int code = options_parse(&import_usage, list.rows, list.count, argc, argv, &path, NULL);
    if (code >= 0) return code;
    if (out == NULL) return report_usage("net import", "-o FILE is needed");
    pess_policy *policy = NULL;
    pess_error error;
    pess_status status = pess_policy_import(path, &import, &policy, &error);
    if (status == PESS_OK) status = pess_policy_write(policy, out, NULL, NULL, &error);
    pess_policy_destroy(policy);
    return status == PESS_OK ? EXIT_FINE : report_error("net import", &error);
}

static const command subcommands[] = {
    {"info", "what is in a network or a policy of networks, and how it was trained", net_info},
    {"export", "a policy as a file for other programs: C, ONNX, or NumPy arrays", net_export},
    {"import", "a policy from weights that another program trained, as NumPy arrays", net_import}};

int cmd_net(int argc, char **argv) { return run_part("net", subcommands, COUNT_OF(subcommands), argc, argv); }
