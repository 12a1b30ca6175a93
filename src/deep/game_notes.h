/* The game as it is played, in the notes of data and networks: sticky, ramping, minimal_actions. */
#ifndef PESS_DEEP_GAME_NOTES_H
#define PESS_DEEP_GAME_NOTES_H

#include "data/observations.h"

enum { PESS__GAME_NOTES_SIZE = 160 };

/* Lines "key=value" of all three, or of those alone that are not the game's defaults. */
void pess__game_notes(const pess_env_options *env, bool all, char out[PESS__GAME_NOTES_SIZE]);
/* From the notes of data; what they do not name stays. */
pess_status pess__game_notes_read(const char *notes, pess_env_options *env, pess_error *error);

/* Do the data have the observations and actions of their game, where it is one that is known? */
pess_status pess__game_check_data(const pess_observations *data, const char *name, pess_error *error);

#endif
