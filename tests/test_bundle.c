/* Policies of networks in one file: they act as their training scored them, and no bytes do harm. */
#include "deep/bundle.h"
#include "deep/play.h"
#include "fitted_case.h"

#include <zlib.h>

/* ---- as it was scored */

/* Every learner: the policy that is read plays the episodes of the last evaluation, to the same return. */
static void a_policy_plays_as_its_training_scored_it(void **state) {
    (void)state;
    pess_mdp *mdp = process();
    pess_observations *data = uneven_log(mdp, 600, UINT64_MAX);
    for (size_t i = 0; pess_learner_list(i) != NULL; i++) {
        const pess_learner_info *learner = pess_learner_list(i);
        pess_train_options o = training(mdp, data, learner->name, learner->name);
        o.protocol.updates = 5, o.protocol.steps = 20, o.protocol.batch = 32, o.protocol.imitation_steps = 100;
        pess_train_result result;
        pess_error error;
        OK(pess_train_run(&o, &result, &error));
        char path[400];
        (void)snprintf(path, sizeof path, "%s/policy.pesspolicy", o.out);
        pess_policy *policy = NULL;
        OK(pess_policy_read(path, NULL, NULL, NULL, &policy, &error));
        pess_policy_info info;
        pess_policy_get_info(policy, &info);
        assert_string_equal(info.rule, learner->name);
        assert_int_equal(info.samples, learner->samples);
        pess_play_options play = pess_play_options_defaults();
        pess__rng rng = pess__rng_stream(o.seed, "evaluate", (uint64_t)result.updates);
        pess_play_result played;
        play.seed = pess__rng_next(&rng);
        play.episodes = o.protocol.score_episodes * (learner->values ? 1 : PESS_SCORED_UPDATES);
        play.mdp = mdp;
        OK(pess_play(policy, &play, &played, &error));
        if (played.mean_return != result.score_final)
            fail_msg("%s: %.17g, scored as %.17g", learner->name, played.mean_return, result.score_final);
        pess_policy_destroy(policy);
    }
    pess_observations_destroy(data);
    pess_mdp_destroy(mdp);
}

/* ---- hostile files */

enum { BITS = 3, TAKEN = 2 };

/* ua-counts over two actions with all its parts: two networks, penalties and counts of two states. */
static uint8_t *written(size_t *size) {
    static const float table[BITS * TAKEN] = {1, 2, 3, 4, 5, 6}, penalty[4] = {0, 1, 0.5F, 0};
    static const int32_t counts[4] = {3, 0, 1, 2};
    static const pess__alpha_knob knobs = {sizeof knobs, 0.25};
    pess_error error;
    pess_observations *data = NULL;
    OK(pess_observations_create("mdp", "", &(pess_observation_shape){.length = BITS}, TAKEN, &data, &error));
    OK(pess_observations_add(data, "\1", 0, 0, "\2", PESS_END_TERMINAL, &error));
    pess__net *values = table_network(BITS, TAKEN, table), *uncertainty = table_network(BITS, TAKEN, table);
    const pess__learned_policy learned = {.learner = pess__learner_find("ua-counts"),
                                          .knobs = &knobs,
                                          .actions = TAKEN,
                                          .cap = 1,
                                          .relative = true,
                                          .values = {values},
                                          .uncertainty = uncertainty,
                                          .data = data,
                                          .penalty = penalty,
                                          .counts = counts};
    pess_policy *policy = NULL;
    OK(pess__bundle_borrow(&learned, "made=by hand\n", &policy, &error));
    OK(pess_policy_write(policy, in_root("hand.pesspolicy"), NULL, NULL, &error));
    pess_policy_destroy(policy);
    pess__net_destroy(values);
    pess__net_destroy(uncertainty);
    pess_observations_destroy(data);
    FILE *file = fopen(in_root("hand.pesspolicy"), "rb");
    assert_non_null(file);
    uint8_t *bytes = room_for(4096, 1);
    *size = fread(bytes, 1, 4096, file);
    (void)fclose(file);
    return bytes;
}

static void a_file_brings_everything_back(void **state) {
    (void)state;
    size_t size;
    uint8_t *bytes = written(&size);
    pess_policy *policy = NULL;
    pess_error error;
    OK(pess__bundle_read_memory("f", bytes, size, &policy, &error));
    const pess__bundle *b = (const pess__bundle *)(const void *)policy;
    assert_true(pess__alpha(b->learned.knobs) == 0.25 && b->learned.cap == 1 && b->learned.relative);
    assert_int_equal(b->data->states, 2);
    assert_true(b->penalty[1] == 1 && b->penalty[2] == 0.5F && b->counts[0] == 3 && b->counts[3] == 2);
    assert_string_equal(b->notes, "made=by hand\n");
    /* q − αu: 1 − 0, 2 − 0.25 in the first state of the data; by the network outside them. */
    double probabilities[TAKEN];
    OK(pess_policy_observation_probabilities(policy, (const uint8_t *)"\1", 1, 1, probabilities, &error));
    assert_true(probabilities[0] == 0 && probabilities[1] == 1);
    float outputs[TAKEN];
    OK(pess_policy_outputs(policy, (const uint8_t *)"\4", 1, 1, outputs, &error));
    assert_true(outputs[0] == 5 && outputs[1] == 6);
    /* Written again it is the same file. */
    OK(pess_policy_write(policy, in_root("again.pesspolicy"), NULL, NULL, &error));
    FILE *file = fopen(in_root("again.pesspolicy"), "rb");
    uint8_t again[4096];
    assert_non_null(file);
    assert_int_equal(fread(again, 1, sizeof again, file), size);
    assert_memory_equal(again, bytes, size);
    (void)fclose(file);
    pess_policy_destroy(policy);
    free(bytes);
}

/* Any byte changed, any end missing: a message, never a policy. */
static void damage_is_refused(void **state) {
    (void)state;
    size_t size;
    uint8_t *bytes = written(&size);
    pess_policy *policy = NULL;
    pess_error error;
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x10;
        assert_int_equal(pess__bundle_read_memory("f", bytes, size, &policy, &error), PESS_INPUT);
        bytes[i] ^= 0x10;
        uint8_t *cut = room_for((int64_t)i + 1, 1); /* of its own, so that a sanitizer sees its end */
        memcpy(cut, bytes, i);
        assert_int_equal(pess__bundle_read_memory("f", cut, i, &policy, &error), PESS_INPUT);
        free(cut);
    }
    assert_null(policy);
    free(bytes);
}

/* The checksum put right after any change of a byte: a policy that can be asked, or a message. */
static void what_lies_behind_the_checksum_is_checked(void **state) {
    (void)state;
    size_t size;
    uint8_t *bytes = written(&size);
    int refused = 0;
    for (size_t i = 8; i < size - 4; i++)
        for (int change = 0; change < 3; change++) {
            static const uint8_t masks[] = {0xff, 0x80, 0x01};
            pess_policy *policy = NULL;
            pess_error error = {0};
            bytes[i] ^= masks[change];
            const uint32_t crc = (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size - 4);
            memcpy(bytes + size - 4, &crc, sizeof crc);
            double probabilities[PESS__MAX_ACTIONS];
            if (pess__bundle_read_memory("f", bytes, size, &policy, &error) == PESS_OK) {
                OK(pess_policy_observation_probabilities(policy, (const uint8_t *)"\2", 1, 1, probabilities, &error));
            } else {
                assert_ptr_equal(strstr(error.message, "f: "), error.message);
                refused++;
            }
            pess_policy_destroy(policy);
            bytes[i] ^= masks[change];
        }
    assert_true(refused > 200);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_plays_as_its_training_scored_it),
        cmocka_unit_test(a_file_brings_everything_back),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(what_lies_behind_the_checksum_is_checked),
    };
    return cmocka_run_group_tests(tests, open_root, remove_root);
}
