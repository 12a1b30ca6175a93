#include "nn/trainer.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples that go through the network together, forward and back, while they are in the cache. The gradient's sums run
 * over the samples in order, so the result does not depend on it. */
enum { CHUNK = 128, LINE = 64 };

pess__optimiser pess__optimiser_defaults(void) {
    return (pess__optimiser){
        .kind = PESS__OPTIMISER_ADAM, .rate = 3e-4, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .clip = 0};
}

pess_status pess__trainer_create(pess__net *net, const pess__optimiser *optimiser, pess__trainer **out,
                                 pess_error *error) {
    pess__trainer *trainer;
    PESS_TRY(pess__allocate(&trainer, 1, sizeof *trainer, "a trainer", error));
    trainer->net = net;
    trainer->optimiser = *optimiser;
    const int64_t size = (net->size + LINE - 1) / LINE * LINE;
    pess_status status = pess__allocate(&trainer->memory, 3 * size + LINE, sizeof(pess__real), "a gradient", error);
    if (status == PESS_OK) status = pess__pass_create(net, CHUNK, true, &trainer->pass, error);
    if (status != PESS_OK) {
        pess__trainer_destroy(trainer);
        return status;
    }
    const uintptr_t address = (uintptr_t)trainer->memory, start = (address + LINE - 1) / LINE * LINE;
    trainer->gradient = (pess__real *)(void *)((char *)trainer->memory + (start - address));
    trainer->first = trainer->gradient + size;
    trainer->second = trainer->first + size;
    *out = trainer;
    return PESS_OK;
}

void pess__trainer_destroy(pess__trainer *trainer) {
    if (trainer == NULL) return;
    pess__pass_destroy(trainer->pass);
    free(trainer->memory);
    free(trainer);
}

void pess__trainer_reset(pess__trainer *trainer) {
    const size_t bytes = (size_t)trainer->net->size * sizeof(pess__real);
    memset(trainer->first, 0, bytes);
    memset(trainer->second, 0, bytes);
    trainer->steps = 0;
}

void pess__trainer_gradient(pess__trainer *trainer, const pess__bits_rows *rows, const pess__labels *labels,
                            int64_t count, const pess__loss *loss, pess__step_info *info) {
    const pess__net *net = trainer->net;
    pess__pass *pass = trainer->pass;
    const int last = net->spec.layer_count - 1;
    const double total = (double)(labels->first != NULL ? labels->first[count] : count);
    pess__loss_sums sums = {0, 0};
    pess__pass_transpose(net, pass);
    for (int64_t first = 0; first < count; first += CHUNK) {
        const int64_t samples = count - first < CHUNK ? count - first : CHUNK;
        pess__pass_forward(net, pass, rows, first, samples);
        pess__loss_gradient(loss, labels, first, samples, net->outputs, net->padded_outputs, 1 / total,
                            pass->activation[last], pass->delta[last], &sums);
        pess__pass_backward(net, pass, first > 0, trainer->gradient);
    }
    *info = (pess__step_info){sums.loss / total, sums.output / total, 0};
}

/* Factor that brings the gradient's norm down to the limit (as PyTorch's clip_grad_norm_). */
static double clipping(const pess__trainer *trainer, double *norm) {
    double sum = 0;
    for (int64_t i = 0; i < trainer->net->size; i++) {
        const double g = (double)trainer->gradient[i];
        sum += g * g;
    }
    *norm = sqrt(sum);
    const double factor = trainer->optimiser.clip / (*norm + 1e-6);
    return factor < 1 ? factor : 1;
}

void pess__trainer_move(pess__trainer *trainer, pess__step_info *info) {
    const pess__optimiser *o = &trainer->optimiser;
    pess__net *net = trainer->net;
    const double scale = o->clip > 0 ? clipping(trainer, &info->norm) : 1;
    trainer->steps++;
    if (o->kind == PESS__OPTIMISER_ADAM) {
        const double correction1 = 1 - pow(o->beta1, (double)trainer->steps);
        const double correction2 = 1 - pow(o->beta2, (double)trainer->steps);
        const pess__adam s = {.rate = (pess__real)(o->rate / correction1),
                              .beta1 = (pess__real)o->beta1,
                              .beta2 = (pess__real)o->beta2,
                              .epsilon = (pess__real)o->epsilon,
                              .root = (pess__real)(1 / sqrt(correction2)),
                              .rest1 = (pess__real)(1 - o->beta1),
                              .rest2 = (pess__real)(1 - o->beta2),
                              .scale = (pess__real)scale};
        net->kernels->adam(&s, net->size, trainer->gradient, net->parameters, trainer->first, trainer->second);
    } else {
        const pess__rmsprop s = {.rate = (pess__real)o->rate,
                                 .decay = (pess__real)o->beta2,
                                 .rest = (pess__real)(1 - o->beta2),
                                 .epsilon = (pess__real)o->epsilon,
                                 .scale = (pess__real)scale};
        net->kernels->rmsprop(&s, net->size, trainer->gradient, net->parameters, trainer->first, trainer->second);
    }
}

pess_status pess__trainer_step(pess__trainer *trainer, const pess__bits_rows *rows, const pess__labels *labels,
                               int64_t count, const pess__loss *loss, pess__step_info *info, pess_error *error) {
    pess__trainer_gradient(trainer, rows, labels, count, loss, info);
    if (!isfinite(info->loss))
        return pess__fail(error, PESS_NOT_CONVERGED, "the loss of training step %lld is not finite (%g)",
                          (long long)trainer->steps + 1, info->loss);
    pess__trainer_move(trainer, info);
    return PESS_OK;
}
