/* What the program says may hold names from files, and a terminal obeys what it is sent. */
#ifndef PESS_CLI_SHOWN_H
#define PESS_CLI_SHOWN_H

/* From now on everything that is printed on stdout and stderr goes through pess_show; line breaks and tabs are the
 * program's own. */
void show_through_filter(void);
/* As it is: for a line that is drawn again and again. */
void draw_on_terminal(const char *text);

#endif
