/* Training the value network on a logged dataset, one core, seconds of the thread's own clock. Prints one number, for
 * interleaving with bench/peer_fitted.py.
 *
 *     bench_fitted DATA train BATCH SECONDS          transitions per second; equal states of a minibatch computed once
 *     bench_fitted DATA every BATCH SECONDS          transitions per second; every one computed
 *     bench_fitted DATA share BATCH                  different states of a minibatch over its transitions
 *     bench_fitted DATA targets BATCH                seconds of the targets of the whole dataset, each next state once
 *     bench_fitted DATA play EPISODES                frames per second of greedy episodes, the game included
 *     bench_fitted DATA loop BATCH UPDATES STEPS [LEARNER IMITATION]
 *                                                    seconds of fitted Q iteration (naive), without evaluations
 */
#include "bench.h"

#include "deep/bundle.h"
#include "deep/play.h"
#include "deep/training.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_clock(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What drawing minibatches needs of a training; targets are rewards. */
static pess__training *prepare(const pess_observations *data, int64_t batch) {
    pess_error error = {0};
    pess__net_spec spec;
    const pess__optimiser optimiser = pess__optimiser_defaults();
    pess__rng rng = pess__rng_stream(1, "bench", 0);
    const pess_env_info *game = pess_env_find(data->game);
    pess__training *f = array(1, sizeof *f);
    if (game == NULL) exit(1);
    f->setup.position = &f->position;
    f->setup.data = data;
    f->setup.batch = batch;
    f->setup.learner = pess__learner_find("naive");
    f->setup.options = pess_train_options_defaults();
    f->setup.options.threads = 1;
    f->networks.count = 1;
    must(pess__network_sweep_create(&f->setup, 0, data->actions, &f->sweep, &error), &error);
    must(pess__targets_create(&f->setup, &f->values, &error), &error);
    must(pess__minibatch_create(batch, 0, &f->minibatch, &error), &error);
    must(pess__spec_named("value", game->rows, game->cols, game->channels, (int32_t)data->actions, &spec, &error),
         &error);
    must(pess__net_create(&spec, NULL, &f->networks.nets[0], &error), &error);
    must(pess__trainer_create(f->networks.nets[0], &optimiser, &f->networks.trainers[0], &error), &error);
    pess__net_initialise(f->networks.nets[0], &rng);
    return f;
}

/* Every transition a sample of its own. */
static int64_t draw_every(pess__training *f, pess__rng *rng) {
    for (int64_t i = 0; i < f->setup.batch; i++) {
        const int64_t row = (int64_t)pess__rng_below(rng, (uint64_t)f->setup.data->transitions);
        f->minibatch.unique[i] = f->setup.data->state[row];
        f->minibatch.first[i] = i;
        f->minibatch.taken[i] = f->setup.data->action[row];
        f->minibatch.targets[i] = (pess__real)pess__target(&f->setup, &f->values, row);
    }
    f->minibatch.first[f->setup.batch] = f->setup.batch;
    return f->setup.batch;
}

/* Best of ten stretches. */
static double train_rate(pess__training *f, bool merge, double seconds) {
    const pess__loss loss = {PESS__LOSS_HUBER, PESS__HUBER_EDGE};
    const pess__bits_rows rows = {f->setup.data->observations, f->setup.data->bytes, f->minibatch.unique};
    const pess__labels labels = {
        .actions = f->minibatch.taken, .targets = f->minibatch.targets, .first = f->minibatch.first};
    pess__rng rng = pess__rng_stream(2, "bench", 0);
    pess_error error = {0};
    double best = 0;
    for (int stretch = 0; stretch < 10; stretch++) {
        const double begun = cpu_clock();
        double passed = 0;
        int64_t done = 0;
        for (; passed < seconds / 10; passed = cpu_clock() - begun, done += f->setup.batch) {
            pess__step_info info;
            const int64_t samples = merge ? pess__minibatch_draw(f, 0, &rng) : draw_every(f, &rng);
            must(pess__trainer_step(f->networks.trainers[0], &rows, &labels, samples, &loss, &info, &error), &error);
        }
        if ((double)done / passed > best) best = (double)done / passed;
    }
    return best;
}

static double share_of_states(pess__training *f) {
    pess__rng rng = pess__rng_stream(3, "bench", 0);
    int64_t different = 0;
    for (int i = 0; i < 100; i++) different += pess__minibatch_draw(f, 0, &rng);
    return (double)different / (100 * (double)f->setup.batch);
}

/* So many draws that an update's targets are those of all transitions; best of five. */
static double target_seconds(pess__training *f) {
    pess_error error = {0};
    double best = 1e30;
    f->position.update = 1;
    f->setup.steps = 9 * f->setup.data->transitions / f->setup.batch + 1;
    for (int i = 0; i < 5; i++) {
        const double begun = cpu_clock();
        must(pess__targets_compute(f, &error), &error);
        const double seconds = cpu_clock() - begun;
        if (seconds < best) best = seconds;
    }
    return best;
}

static double play_rate(const pess__training *f, int64_t episodes) {
    pess_error error = {0};
    pess_play_options o = pess_play_options_defaults();
    pess_play_result result;
    o.game = f->setup.data->game;
    o.episodes = episodes;
    o.threads = 1;
    const double begun = cpu_clock();
    pess_policy *policy = NULL;
    must(pess__bundle_argmax(f->networks.nets[0], &policy, &error), &error);
    must(pess__play(policy, &o, NULL, &result, &error), &error);
    pess_policy_destroy(policy);
    return result.mean_length * (double)result.episodes / (cpu_clock() - begun);
}

static double loop_seconds(const pess_observations *data, int64_t batch, int64_t updates, int64_t steps,
                           const char *learner, const char *imitation) {
    char directory[] = "/tmp/pess-bench-XXXXXX", command[64];
    pess_error error = {0};
    pess_train_options o = pess_train_options_defaults();
    pess_train_result result;
    if (mkdtemp(directory) == NULL) exit(1);
    o.data = data;
    o.out = directory;
    o.algorithm = learner;
    o.imitation = imitation;
    o.threads = 1;
    o.protocol.updates = updates;
    o.protocol.steps = steps;
    o.protocol.batch = batch;
    o.protocol.eval_every = o.protocol.score_episodes = o.protocol.control_episodes = 0;
    const double begun = cpu_clock();
    must(pess_train_run(&o, &result, &error), &error);
    const double seconds = cpu_clock() - begun;
    (void)fprintf(stderr, "ours: loss %.4g, mean target %.4g\n", result.loss, result.mean_target);
    (void)snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command) == 0 ? seconds : 0;
}

int main(int argc, char **argv) {
    pess_error error = {0};
    pess_observations *data = NULL;
    if (argc < 4) return 2;
    must(pess_observations_read(argv[1], &data, &error), &error);
    const int64_t batch = atoll(argv[3]);
    if (batch < 1) return 2;
    if (strcmp(argv[2], "loop") == 0 && argc > 5) {
        printf("%.6g\n", loop_seconds(data, batch, atoll(argv[4]), atoll(argv[5]), argc > 6 ? argv[6] : "naive",
                                      argc > 7 ? argv[7] : NULL));
    } else if (strcmp(argv[2], "targets") == 0) {
        printf("%.6g\n", target_seconds(prepare(data, batch)));
    } else if (strcmp(argv[2], "play") == 0) {
        printf("%.6g\n", play_rate(prepare(data, 1), batch));
    } else {
        pess__training *f = prepare(data, batch);
        const bool share = strcmp(argv[2], "share") == 0, merge = strcmp(argv[2], "train") == 0;
        printf("%.6g\n", share ? share_of_states(f) : train_rate(f, merge, argc > 4 ? atof(argv[4]) : 1));
    }
    return 0;
}
