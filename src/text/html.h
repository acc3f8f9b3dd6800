/* html.h: self-contained HTML pages without scripts or external resources, readable in light mode, dark mode and print.
 * External text is escaped. In addition, the page's content security policy forbids loading or running anything. */
#ifndef WT_TEXT_HTML_H
#define WT_TEXT_HTML_H

#include "base/buffer.h"

/* A page consists of wt__html_head, the title's text, wt__html_body, the content, and wt__html_end. */
void wt__html_head(struct buffer *out);
void wt__html_body(struct buffer *out);
void wt__html_end(struct buffer *out);

/* Appends s as text or attribute value: escapes markup, replaces invalid UTF-8, turns control characters into
 * blanks. */
void wt__html_text(struct buffer *out, struct str s);
/* Works like wt__html_text for at most `most` characters, with an ellipsis if text was cut. */
void wt__html_cut(struct buffer *out, struct str s, size_t most);

/* Appends <tag>text</tag>. */
void wt__html_element(struct buffer *out, const char *tag, const char *text);

/* Starts a table in a scroll container. columns: heads separated by blanks; '_' is a blank within a head, and a leading
 * '<' marks a text column. caption may be NULL. */
void wt__html_table(struct buffer *out, const char *caption, const char *columns);
void wt__html_row(struct buffer *out, const char *label); /* starts a row with its first cell */
void wt__html_table_end(struct buffer *out);

#endif
