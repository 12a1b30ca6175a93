/* Finished trials of an experiment. The library writes a checkpoint, the input damages it (where, which byte) and cuts
 * it; or the input is the file. Reading gives the trials that are whole, or a message, and nothing that was not
 * written.
 *
 * Bytes: how many trials, how many numbers each, then triples of place (2) and value (1); 0 trials: the rest is the
 * file. */
#include "fuzz_files.h"

#include "experiment/checkpoint.h"

enum { TRIALS = 16, WIDTH = 4, DAMAGES = 8 };

static const char signature[] = "1 gridworld trials=16 width=4";

static void damage(const char *path, const uint8_t *bytes, size_t size) {
    const int file = open(path, O_RDWR);
    if (file < 0) abort();
    const off_t length = lseek(file, 0, SEEK_END);
    for (size_t i = 0; i + 3 <= size && i < 3 * DAMAGES; i += 3) {
        const off_t at = (bytes[i] | bytes[i + 1] << 8) % (length + 1);
        if (bytes[i + 2] == 255 && ftruncate(file, at) != 0) abort();
        if (bytes[i + 2] != 255 && pwrite(file, &bytes[i + 2], 1, at) != 1) abort();
    }
    (void)close(file);
}

static void write_trials(const char *path, int64_t trials, int64_t width) {
    double values[TRIALS * WIDTH];
    bool finished[TRIALS] = {false};
    pess_error error;
    pess__checkpoint *checkpoint = NULL;
    for (int i = 0; i < TRIALS * WIDTH; i++) values[i] = i;
    (void)unlink(path);
    double kept[TRIALS * WIDTH];
    if (pess__checkpoint_open(path, false, signature, TRIALS, width, kept, finished, &checkpoint, &error) != PESS_OK ||
        pess__checkpoint_add(checkpoint, 0, trials, values, &error) != PESS_OK ||
        pess__checkpoint_close(checkpoint, &error) != PESS_OK)
        abort();
}

static void read_trials(const char *path, int64_t width, bool written) {
    double values[TRIALS * WIDTH];
    bool finished[TRIALS] = {false};
    pess_error error = {0};
    const pess_status status = pess__checkpoint_read(path, signature, TRIALS, width, values, finished, &error);
    if (status != PESS_OK) fuzz_refused(status, &error);
    for (int64_t i = 0; status == PESS_OK && written && i < TRIALS; i++)
        for (int64_t k = 0; finished[i] && k < width; k++)
            if (values[i * width + k] != (double)(i * width + k)) abort();
}

/* A run that goes on cuts off what is torn; what it then finds is what reading found. */
static void go_on(const char *path, int64_t width) {
    double values[TRIALS * WIDTH];
    bool finished[TRIALS] = {false};
    pess_error error = {0};
    pess__checkpoint *checkpoint = NULL;
    const pess_status status =
        pess__checkpoint_open(path, true, signature, TRIALS, width, values, finished, &checkpoint, &error);
    if (status != PESS_OK)
        fuzz_refused(status, &error);
    else if (pess__checkpoint_close(checkpoint, &error) != PESS_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char path[128];
    if (size < 2) return 0;
    const int64_t trials = bytes[0] % (TRIALS + 1), width = 1 + bytes[1] % WIDTH;
    fuzz_write("input", bytes + 2, trials > 0 ? 0 : size - 2, path);
    if (trials > 0) {
        write_trials(path, trials, width);
        damage(path, bytes + 2, size - 2);
    }
    read_trials(path, width, trials > 0);
    go_on(path, width);
    read_trials(path, width, trials > 0);
    return 0;
}
