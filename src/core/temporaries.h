/* Temporary names beside the files that are to appear. Each is locked while it is written, and the kernel takes the
 * lock away when its process dies: so who comes next knows which ones nobody will finish, and removes them. */
#ifndef PESS_CORE_TEMPORARIES_H
#define PESS_CORE_TEMPORARIES_H

#include <sys/types.h>

/* A new file beside `path`: its descriptor, or -1 with errno. *name is its name, to be given to _forget. The first one
 * in a directory removes what dead processes left there. */
int pess__temporary_open(const char *path, mode_t mode, char **name);
/* The file is renamed or removed: its name is freed. NULL is fine. */
void pess__temporary_forget(char *name);

#endif
