/* html.h: writes self-contained HTML pages without scripts or external resources, readable in light mode, dark mode and
 * print. Text from outside is escaped. In addition, the content security policy of the page forbids to load or run
 * anything. */
#ifndef WT_TEXT_HTML_H
#define WT_TEXT_HTML_H

#include "base/buffer.h"

/* A page is written by wt__html_head, the text of the title, wt__html_body, the content, and wt__html_end. */
void wt__html_head(struct buffer *out);
void wt__html_body(struct buffer *out);
void wt__html_end(struct buffer *out);

/* Appends s as text or attribute value: escapes markup, replaces invalid UTF-8, turns control characters into
 * blanks. */
void wt__html_text(struct buffer *out, struct str s);
/* Same as wt__html_text, but truncates the text to `most` characters and an ellipsis. */
void wt__html_cut(struct buffer *out, struct str s, size_t most);

/* Appends <tag>text</tag>. */
void wt__html_element(struct buffer *out, const char *tag, const char *text);

/* Starts a table in a scroll container. columns: column heads separated by blanks; '_' stands for a blank within a
 * head, and a leading '<' marks a column of text. caption: NULL for no caption. */
void wt__html_table(struct buffer *out, const char *caption, const char *columns);
void wt__html_row(struct buffer *out, const char *label); /* starts a row with its first cell */
void wt__html_table_end(struct buffer *out);

#endif
