/* What the pages share: text that is safe, and figures drawn in the browser from the data in the page. */
#ifndef PESS_REPORT_HTML_H
#define PESS_REPORT_HTML_H

#include "core/outfile.h"
#include "report/figure.h"

void pess__html_text(pess__outfile *file, const char *text); /* escaped */
void pess__html_tag(pess__outfile *file, const char *tag, const char *attributes, const char *text);

/* Up to <body>: the style of all pages, and what this one adds to it. */
void pess__html_head(pess__outfile *file, const char *title, const char *more_css);

/* Head, title, note and the place of the first figure; the end has the data of the figures and the script. */
void pess__html_begin(pess__outfile *file, const pess__figure *figure);
/* Where the second figure (group 1) is drawn. */
void pess__html_plots(pess__outfile *file, int group);
void pess__html_end(pess__outfile *file, const pess__figure *figure, const pess__figure *second); /* may be NULL */

#endif
