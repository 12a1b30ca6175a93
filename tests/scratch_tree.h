/* A directory of a test and all that is in it, removed. */
#ifndef PESS_TESTS_SCRATCH_TREE_H
#define PESS_TESTS_SCRATCH_TREE_H

#include "scratch.h"

#include <ftw.h>
#include <sys/stat.h>

static inline int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

static inline void remove_tree(const char *path) {
    assert_int_equal(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

#endif
