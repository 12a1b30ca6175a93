/* pess.h — Pessimist: fixed-dataset policy optimization.
 *
 * A log of decisions (state, action, reward, next state) goes in; a policy comes out that is good in the worst
 * world the log still allows. This header is the whole interface of the library; its parts read as the manual, in the
 * order in which a transition travels:
 *
 *     pess/base.h          status and errors, settings, progress
 *     pess/data.h          logs: names, columns, files, what a look at them finds
 *     pess/cells.h         states made of measurements: maps from rows to cells
 *     pess/tabular.h       counts, models, known processes, policies
 *     pess/arrow.h         logs from Arrow streams
 *     pess/solving.h       uncertainty, solving, simulation
 *     pess/act.h           a policy applied to new rows
 *     pess/cells_report.h  whether the answer depends on the cells, and a page about them
 *     pess/certify.h       certificates
 *     pess/choose.h        which algorithm and how much pessimism, for a log
 *     pess/environments.h  environments to act in
 *     pess/networks.h      networks, players, learning from a fixed dataset of observations
 *     pess/score.h         what policies are worth by logged observations, and which one to take
 *     pess/experiments.h   the paper's experiments and figures (experimental)
 *     pess/compare.h       runs of several algorithms compared
 *     pess/json.h          JSON, written as it goes
 *
 * Habits. Every function that can fail returns a pess_status and, when `error` is not NULL, leaves a sentence in it
 * that says which input, which line, what was found and what was expected. A `T **out` is set only on success.
 * `const T *` arguments are borrowed for the call. destroy(NULL) does nothing. The library never prints
 * and never exits. Its only state of its own is the limit of memory (pess_set_max_memory): any number of threads may
 * use it at once on different objects, and on the same object as long as all of them only read. Arrays over
 * state-action pairs are row-major: [S*A], index s*A + a. Same inputs and same seed give the same bytes at any thread
 * count.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PESS_H
#define PESS_H

#include "pess/act.h"
#include "pess/arrow.h"
#include "pess/base.h"
#include "pess/cells.h"
#include "pess/cells_report.h"
#include "pess/certify.h"
#include "pess/choose.h"
#include "pess/compare.h"
#include "pess/data.h"
#include "pess/environments.h"
#include "pess/experiments.h"
#include "pess/json.h"
#include "pess/networks.h"
#include "pess/score.h"
#include "pess/solving.h"
#include "pess/tabular.h"

#endif
