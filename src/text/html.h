/* html.h: writes self-contained HTML pages without scripts or external resources, readable in light mode, dark mode and
 * print. Text from outside is escaped. In addition, the content security policy of the page forbids loading and running
 * anything. */
#ifndef WT_TEXT_HTML_H
#define WT_TEXT_HTML_H

#include "base/buffer.h"

/* To write a page: call wt__html_head, append the text of the title, call wt__html_body, append the content, and call
 * wt__html_end. */
void wt__html_head(struct buffer *out);
void wt__html_body(struct buffer *out);
void wt__html_end(struct buffer *out);

/* Appends s as text or as an attribute value. Escapes markup, and replaces invalid UTF-8 by U+FFFD and control
 * characters by blanks. */
void wt__html_text(struct buffer *out, struct str s);
/* Works like wt__html_text. Truncates a text of over `most` characters and appends an ellipsis. */
void wt__html_cut(struct buffer *out, struct str s, size_t most);

/* Appends <tag>text</tag>. */
void wt__html_element(struct buffer *out, const char *tag, const char *text);

/* Starts a table in a scroll container. caption: NULL for no caption. columns: column heads separated by blanks. In a
 * head, '_' is written as a blank, and a leading '<' aligns the head to the left. */
void wt__html_table(struct buffer *out, const char *caption, const char *columns);
void wt__html_row(struct buffer *out, const char *label); /* starts a row with its first cell */
void wt__html_table_end(struct buffer *out);

#endif
