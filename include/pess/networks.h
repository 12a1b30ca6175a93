/* Pessimist: networks, players, and learning from a fixed dataset of observations (paper, section 6).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_NETWORKS_H
#define PESS_NETWORKS_H

#include "pess/act.h"
#include "pess/environments.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- networks and players */

/* A network that turns an observation into one number per action. It computes on the best instructions the
 * machine has: "avx512" or "avx2", which give the same bytes, or "portable"; at any thread count. The variable
 * PESS_KERNELS of the environment names others. */
typedef struct pess_net pess_net;

/* The instructions that networks compute with here, where none are named; "none": the environment asks for some that
 * this machine lacks. */
PESS_API const char *pess_kernels(void);

typedef struct pess_net_info {
    pess_observation_kind input; /* what it reads */
    int rows, cols, channels;    /* of the observations it reads */
    int outputs, layer_count;
    int64_t bytes; /* of an observation */
    int64_t parameters;
    uint32_t checksum;   /* CRC-32 of its file; 0 where it has none yet */
    const char *kernels; /* the path it computes on */
    const char *notes;   /* lines "key=value": how it was trained */
} pess_net_info;

typedef struct pess_net_layer {
    const char *kind;        /* "conv" or "dense" */
    int kernel, stride;      /* 0 for a dense layer */
    int outputs, rows, cols; /* channels and board after it */
    double slope;            /* activation max(y, slope·y): 1 none, 0 ReLU */
    int64_t parameters;
} pess_net_layer;

/* kernels: "avx512", "avx2", "portable", or NULL for the best there is. Truncated, damaged or foreign files are
 * PESS_INPUT. */
PESS_API pess_status pess_net_read(const char *path, const char *kernels, pess_net **out, pess_error *error);
/* Writes the network and its notes, whole or not at all. */
PESS_API pess_status pess_net_write(const pess_net *net, const char *path, pess_error *error);
/* Frees it. */
PESS_API void pess_net_destroy(pess_net *net);
PESS_API void pess_net_get_info(const pess_net *net, pess_net_info *out); /* texts live as long as the network */
PESS_API bool pess_net_get_layer(const pess_net *net, int index, pess_net_layer *out); /* false: no such layer */
/* The value of a note, cut to size - 1 characters; false where there is no such key. */
PESS_API bool pess_net_note(const pess_net *net, const char *key, char *value, size_t size);
/* Outputs [count*outputs] of `count` observations, `stride` bytes apart; floats must be aligned as floats are. */
PESS_API pess_status pess_net_apply(const pess_net *net, const void *observations, int64_t stride, int64_t count,
                                    int threads, float *out, pess_error *error);

/* Networks that have names. */
typedef struct pess_network_info {
    const char *name, *summary;
    const char *layers; /* up to the outputs, "conv 16 3/1, dense 128": as they may be given in place of the name */
} pess_network_info;

PESS_API const pess_network_info *pess_network_list(size_t index); /* by position from 0; NULL past the last */

/* ---- policies of networks: acting in games
 *
 * pess_policy_read (pess/tabular.h) reads them: .pesspolicy, which a training writes, has all that its rule needs; the
 * rule of a network alone (.pessnet) is in its note "acts": "softmax" (imitation), or "argmax", as without the note. */

/* What the networks that give values say of each action, [count*actions], as a mean over networks and heads; of
 * imitation the log odds. PESS_ARGUMENT for a table. */
PESS_API pess_status pess_policy_outputs(const pess_policy *policy, const uint8_t *bits, int64_t stride, int64_t count,
                                         float *out, pess_error *error);
/* A policy of networks taken home, by the ending of the name: ".c" one C file with policy_act and
 * policy_probabilities; ".onnx" a model that takes observations and gives actions, and probabilities or values; ".npz"
 * the arrays of its one network by PyTorch's names. PESS_ARGUMENT for a rule that cannot be written so. */
PESS_API pess_status pess_policy_export(const pess_policy *policy, const char *path, pess_error *error);

/* Weights that another program trained. */
typedef struct pess_import_options {
    size_t size;
    const char *network; /* as of pess_train_options; NULL: dense layers with ReLU, as the arrays have them */
    const char *input;   /* what it sees: "floats", "bytes" or "bits" */
    const char *board;   /* "ROWSxCOLSxCHANNELS"; NULL: none, a row of numbers */
    const char *acts;    /* "argmax" of the outputs, which are values, or "softmax" */
} pess_import_options;

/* The settings in pess_import_options, a row each. */
PESS_API const pess_setting_table *pess_import_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_import_options pess_import_options_defaults(void);
/* A policy of one network from NumPy arrays (.npz): a state dict of PyTorch, whose arrays end in ".weight" and ".bias",
 * layer by layer, and if they are there shift and scale of the observations. PESS_INPUT, naming the array, where one is
 * missing, has another shape than the network or is not expected. */
PESS_API pess_status pess_policy_import(const char *path, const pess_import_options *options, pess_policy **out,
                                        pess_error *error);
/* pess_act_rows for a policy of networks: rows is a CSV file whose columns are the numbers of an observation, by the
 * names in the policy's note `features` or else in order, or NumPy arrays with `observations` (.npz); the answer has a
 * line per row. Of floats it says how many deviations of the data the farthest feature lies from their mean, and to
 * keep present practice beyond outside_limit, and where the policy was made by counting and has no count of the
 * observation. */
PESS_API pess_status pess_act_observations(const pess_policy *policy, const char *rows, const char *output,
                                           const pess_act_options *options, int64_t *count, pess_error *error);
/* PESS_INPUT where the policy was made for another game or another board, or is a network alone whose rule needs more
 * than that and the largest output (`argmax`) is not asked for. `name` begins the message. */
PESS_API pess_status pess_policy_check_game(const pess_policy *policy, const char *name, const pess_env_info *game,
                                            bool argmax, pess_error *error);

/* How well a policy plays: whole episodes, each in an environment of its own, so the result depends on the seed and the
 * number of episodes alone. */
typedef struct pess_play_options {
    size_t size;
    const char *game;    /* as in pess_env_options */
    const pess_mdp *mdp; /* in place of a game: tables see its states, networks see them one-hot */
    double sticky;       /* these three as in pess_env_options */
    bool ramping, minimal_actions;
    int64_t step_limit; /* steps before an episode is cut off */
    double epsilon;     /* probability of a uniformly random action */
    bool argmax;        /* the most probable action in place of a draw */
    int64_t episodes;
    uint64_t seed;
    int threads; /* 0: all there are */
    pess_progress progress;
    const pess_env_callbacks *own; /* in place of a game: an environment of the caller's own */
} pess_play_options;

typedef struct pess_play_result {
    double mean_return, ci95; /* ci95: half-width of the 95 % interval of the mean (normal approximation) */
    double mean_length;
    int64_t episodes, cutoffs; /* cutoffs: episodes that reached the step limit */
    double least_return, most_return;
} pess_play_result;

/* The settings in pess_play_options, a row each. */
PESS_API const pess_setting_table *pess_play_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_play_options pess_play_options_defaults(void);
/* By the policy but for epsilon; NULL: uniformly random. */
PESS_API pess_status pess_play(const pess_policy *policy, const pess_play_options *options, pess_play_result *out,
                               pess_error *error);

/* DQN (Mnih et al. 2015) with double targets (van Hasselt et al. 2016), many environments at once and replay in packed
 * bits. The directory gets log.csv, two generations of checkpoints and, at the end, policy.pessnet: of the best
 * snapshots by `evaluate_episodes` greedy episodes the one that is best again on fresh episodes. */
typedef struct pess_dqn_options {
    size_t size;
    const char *game;    /* a name of pess_env_list */
    const pess_mdp *mdp; /* in place of a game: one-hot states, network "dense" */
    const char *network; /* as of pess_train_options */
    const char *kernels; /* NULL: the best */
    const char *out;     /* directory; made where it is missing */
    bool resume;         /* go on from the newest good checkpoint in `out` */
    uint64_t seed;
    int threads;                        /* of the evaluations; 0: all there are */
    int64_t frames;                     /* in all environments together */
    int64_t envs;                       /* environments that step together */
    int64_t replay;                     /* transitions kept */
    int64_t batch;                      /* samples of an update */
    int64_t train_every;                /* frames per update */
    int64_t target_every;               /* updates between copies to the target network */
    int64_t average;                    /* updates whose running mean is evaluated and kept */
    int64_t warmup;                     /* frames of random play before the first update */
    double epsilon_first, epsilon_last; /* of the exploring policy, … */
    int64_t epsilon_frames;             /* … linearly over these */
    double gamma;
    int64_t n_step;         /* rewards summed before the value of the state reached */
    double rate, rate_last; /* Adam's step size, linear over the frames */
    double adam_epsilon;
    double huber;              /* threshold of the loss */
    int64_t step_limit;        /* of an episode in training; cut off, never terminal */
    int64_t evaluate_every;    /* frames */
    int64_t evaluate_episodes; /* greedy, of an evaluation */
    int64_t final_episodes;    /* of the last comparison */
    int64_t checkpoint_every;  /* frames */
    pess_progress progress;
    double action_gap; /* β of advantage learning: how far an action falls short of the best counts 1/(1 − β) times */
} pess_dqn_options;

typedef struct pess_dqn_result {
    int64_t frames, updates, resumed_from; /* resumed_from: frame of the checkpoint; -1: from the beginning */
    double mean_return, ci95;              /* of the policy written, on fresh episodes */
    int64_t best_frame;                    /* when it was taken */
    double seconds, network_seconds;       /* of this run; network_seconds: acting, targets and training */
} pess_dqn_result;

/* The settings in pess_dqn_options, a row each. */
PESS_API const pess_setting_table *pess_dqn_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_dqn_options pess_dqn_options_defaults(void);
/* Trains a player from the beginning, or from the newest checkpoint where `resume` is set. */
PESS_API pess_status pess_dqn_run(const pess_dqn_options *options, pess_dqn_result *out, pess_error *error);

/* ---- learning from a fixed dataset */

typedef struct pess_collect_options {
    size_t size;
    const char *game;    /* as in pess_env_options */
    const pess_mdp *mdp; /* in place of a game: tables see its states, networks see them one-hot */
    double sticky;       /* these three as in pess_env_options */
    bool ramping, minimal_actions;
    int64_t step_limit;        /* steps before an episode is cut off */
    const pess_policy *policy; /* NULL: uniformly at random */
    bool argmax;               /* its most probable action in place of a draw */
    double epsilon;            /* probability of a uniformly random action */
    bool probabilities;        /* keep with which probability every action was taken; the transitions are the same */
    int64_t transitions;
    int64_t envs; /* environments that step together; the log has them one after the other */
    uint64_t seed;
    pess_progress progress;
    const pess_env_callbacks *own; /* in place of a game: an environment of the caller's own, called `game` */
} pess_collect_options;

/* The settings in pess_collect_options, a row each. */
PESS_API const pess_setting_table *pess_collect_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_collect_options pess_collect_options_defaults(void);
/* Environment i is stream 2^32 + i of the seed, so it shares no luck with the episodes of pess_play. An episode that
 * goes on when its environment has its share of the transitions is cut off there. The result depends on the options
 * alone. */
PESS_API pess_status pess_collect(const pess_collect_options *options, pess_observations **out, pess_error *error);

/* The algorithms. */
typedef struct pess_learner_info {
    const char *name, *summary;
    bool values;                     /* learns q-values (imitation does not) */
    bool imitation;                  /* needs the imitation network */
    bool samples;                    /* acts by sampling; argmax of its policy is a control */
    const pess_setting_table *knobs; /* settings of its own; NULL: none */
    const char *settings;            /* of those that not all learners read, the ones it does: "updates steps" */
    const char *source;              /* whose rule and settings these are */
    const char *uncertainty;         /* the uncertainty it reads; NULL: none */
} pess_learner_info;

/* The uncertainty-aware learners are "ua-" and the name of a neural uncertainty. */
PESS_API const pess_learner_info *pess_learner_list(size_t index);     /* by position from 0; NULL past the last */
PESS_API const pess_learner_info *pess_learner_find(const char *name); /* "ua" finds the first of them */
PESS_API double pess_learner_alpha(const pess_learner_info *info); /* default of its knob absorbed-alpha; NAN: none */

/* Where networks take the uncertainty u(s,a) of a pair from. None of these is a bound: alpha is in absorbed units. */
typedef struct pess_neural_uncertainty_info {
    const char *name, *summary, *formula;
    const char *outside; /* what it says of states outside the data */
    double cap;          /* default of u_cap; INFINITY: none */
    bool imitation;      /* needs the imitation network */
} pess_neural_uncertainty_info;

PESS_API const pess_neural_uncertainty_info *pess_neural_uncertainty_list(size_t index); /* NULL past the last */

/* How long to train and evaluate, and named sets of these numbers. */
typedef struct pess_protocol {
    size_t size;
    const char *name;              /* of the set it began as */
    int64_t updates, steps, batch; /* Bellman updates, gradient steps of each, samples of a step */
    double rate, rate_last;        /* Adam's step size within an update, linear from first to last step */
    bool reset;                    /* the network begins anew at each update */
    int64_t imitation_steps, imitation_batch;
    double imitation_rate, imitation_rate_last; /* of its first and last step, linear in between */
    int64_t eval_every;                         /* updates between evaluations; the last five are always evaluated */
    int64_t eval_episodes;                      /* of those in between */
    int64_t score_episodes;                     /* of each of the last five */
    int64_t control_episodes; /* of each of the last five, acting by argmax where the algorithm samples */
    int64_t transitions;      /* that an experiment collects, unless told otherwise */
    bool settle;              /* by held-out episodes; updates and imitation_steps are bounds */
    double price_share;       /* of cql: see price-share */
} pess_protocol;

typedef struct pess_protocol_info {
    const char *name, *summary;
    const char *settings; /* what differs from the defaults: "updates=100 steps=1000" */
    const char *ranges;   /* of the numbers that go by the data: "40 to 400 updates"; NULL: none do */
} pess_protocol_info;

/* The settings in pess_protocol, a row each. */
PESS_API const pess_setting_table *pess_protocol_settings(void);
PESS_API pess_protocol pess_protocol_defaults(void);                 /* "quick" */
PESS_API const pess_protocol_info *pess_protocol_list(size_t index); /* NULL past the last */
/* The protocol "fit", with steps by the size of the data. */
PESS_API void pess_protocol_fit(const pess_observations *data, double gamma, pess_protocol *out);
/* PESS_ARGUMENT, naming those there are, where there is none of that name. */
PESS_API pess_status pess_protocol_find(const char *name, pess_protocol *out, pess_error *error);

#define PESS_SCORED_UPDATES 5 /* the score is the mean over this many last updates */

/* Policies are evaluated in the game as the notes of the data have it: sticky, ramping, minimal_actions. */
typedef struct pess_train_options {
    size_t size;
    const pess_observations *data;
    const char *data_name;     /* for messages and the manifest; NULL: "data" */
    const pess_mdp *mdp;       /* for data of an MDP: where policies are evaluated; NULL: they are not */
    const char *algorithm;     /* a name of pess_learner_list */
    const char *knobs;         /* the learner's own settings, "absorbed-alpha=0.5 …"; NULL: its defaults */
    const char *uncertainty;   /* with algorithm "ua": a name of pess_neural_uncertainty_list; NULL: the first */
    double u_cap;              /* largest u; NAN: the uncertainty's own */
    bool relative;             /* u counts from the smallest u of its state */
    int64_t uncertainty_steps; /* of the uncertainty's network; 0: three fifths of all steps of the values */
    double gamma;
    const char *network;     /* a name of pess_network_list, or layers: "conv 32 8/4, dense 512"; NULL: the one that
                                fits the observations, mlp for floats, conv for boards, nature for large pictures */
    const char *kernels;     /* NULL: the best */
    const char *out;         /* directory; made where it is missing */
    const char *tensorboard; /* directory for an event file of TensorBoard; NULL: none */
    const char *imitation;   /* file of a trained imitation network of these data; one whose notes name others is
                                refused. NULL: one is trained first, where it is needed, in out/imitation */
    bool resume;             /* go on from the newest good checkpoint in `out` */
    uint64_t seed;
    int threads;               /* of targets and evaluations; 0: all there are. The result does not depend on it */
    double checkpoint_seconds; /* between checkpoints, which are taken after updates */
    double report_seconds;     /* least time between reports of progress */
    pess_progress progress;
    pess_protocol protocol; /* a copy, to be changed at will */
} pess_train_options;

/* How a policy did: means over the last PESS_SCORED_UPDATES updates unless said otherwise. Discounted by gamma. */
typedef struct pess_train_result {
    double score;        /* mean undiscounted return */
    double score_final;  /* of the final update alone */
    double score_best;   /* the best seen at any evaluation: not a result, shown as a warning */
    double score_spread; /* largest minus smallest of the scored updates: oscillation; 0 for those without values, who
                            have one evaluation; NAN where nothing was played */
    double control;      /* score when acting by argmax; equals score where the algorithm does not sample */
    double predicted;    /* mean value that the algorithm gives to the episodes' first states; NAN without values */
    double obtained;     /* mean discounted return of the same episodes */
    double outside;      /* share of acting steps in states that are not in the data */
    double mean_target, loss;
    double seconds;                /* of this run */
    int64_t updates, resumed_from; /* resumed_from: update of the checkpoint; -1: from the beginning */
    char warning[256];             /* what the data do not support, in a sentence; empty where there is nothing */
} pess_train_result;

/* The settings in pess_train_options, a row each. */
PESS_API const pess_setting_table *pess_train_settings(void);
/* All of them at their defaults, which NULL options stand for. */
PESS_API pess_train_options pess_train_options_defaults(void);
/* The learner that algorithm and uncertainty name together. */
PESS_API pess_status pess_train_learner(const pess_train_options *options, const pess_learner_info **out,
                                        pess_error *error);
/* Trains a policy on the data from the beginning, or from the newest checkpoint where `resume` is set. */
PESS_API pess_status pess_train_run(const pess_train_options *options, pess_train_result *out, pess_error *error);

#ifdef __cplusplus
}
#endif
#endif
