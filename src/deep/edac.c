/* edac: the ensemble-diversified actor-critic (An et al. 2021) for discrete actions: sac-n with critics that are kept
 * from agreeing, so that fewer of them are enough. Theirs adds to the loss how far the critics' gradients by the action
 * point the same way; where actions are no numbers, the values less their mean over the actions take the gradients'
 * place:
 *
 *     huber(q_i(s,a) − y) + η/(N − 1) Σ_{j≠i} cos(g_i(s), g_j(s)),    g_i(s) = q_i(s,·) − mean_b q_i(s,b)
 *
 * With two actions a cosine is 1 or −1 and has no slope: then edac is sac-n. */
#include "deep/learner.h"

typedef struct edac_knobs {
    pess__sac_knobs sac;
    double eta;
} edac_knobs;

static const pess_setting knob_rows[] = {PESS__SAC_ROWS,
                                         {.name = "eta",
                                          .kind = PESS_SETTING_NUMBER,
                                          PESS__FIELD(edac_knobs, eta),
                                          .standard = "1",
                                          PESS__FROM_TO(0, 1e6),
                                          .argument = "E",
                                          .sentence = "weight of what keeps the critics from agreeing; 0 is sac-n"}};
static const pess_setting_table knobs = PESS__SETTING_TABLE("edac", edac_knobs, knob_rows);

static pess__loss loss(const void *own) {
    return (pess__loss){
        .kind = PESS__LOSS_HUBER, .parameter = PESS__HUBER_EDGE, .diversity = ((const edac_knobs *)own)->eta};
}

const pess__learner pess__learner_edac = {
    .info = {.name = "edac",
             .summary = "the least value of N critics that are kept from agreeing about the actions",
             .values = true,
             .imitation = false,
             .samples = true,
             .knobs = &knobs,
             .settings = PESS__READS_VALUES " " PESS__READS_ARGMAX,
             .source = "An et al. 2021, EDAC: eta 1 (theirs 0 to 1000, by task), values less their mean for gradients"},
    .decide = pess__decide_least,
    .networks = 5,
    .network_count = pess__sac_critics,
    .same_data = true,
    .loss = loss};
