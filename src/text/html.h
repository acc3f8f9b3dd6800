/* html.h: pages that stand by themselves: no script, nothing fetched, readable in light, dark and on paper. Text that
 * came from outside is written as text, and the page's policy forbids it to fetch or run anything even so. */
#ifndef WT_TEXT_HTML_H
#define WT_TEXT_HTML_H

#include "base/buffer.h"

/* A page is wt__html_head, its title's text, wt__html_body, what is on it, wt__html_end. */
void wt__html_head(struct buffer *out);
void wt__html_body(struct buffer *out);
void wt__html_end(struct buffer *out);

/* s as text or as the value of an attribute: markup is escaped, broken UTF-8 replaced, control characters are blanks.
 */
void wt__html_text(struct buffer *out, struct str s);
/* The same of at most `most` characters, with an ellipsis where there were more. */
void wt__html_cut(struct buffer *out, struct str s, size_t most);

/* <tag>text</tag> */
void wt__html_element(struct buffer *out, const char *tag, const char *text);

/* A table that scrolls by itself. Column heads have blanks between them; '_' stands for a blank within one, '<' begins
 * one of words. caption: may be NULL. */
void wt__html_table(struct buffer *out, const char *caption, const char *columns);
void wt__html_row(struct buffer *out, const char *label); /* begins one, with its first cell */
void wt__html_table_end(struct buffer *out);

#endif
