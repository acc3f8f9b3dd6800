/* markup.h: text without its markup, as it is read and not as it is written. Descriptions are written for pages: in
 * HTML, in Markdown, in both. Their tags and link targets would be words of the tool (a request that says "p" found
 * <p>), and of what an encoder reads they take the room of what the tool does.
 *
 *   gone        tags, comments, <script> and <style> with what is in them; marks of emphasis, headings, quotations,
 *               tables, code; lines that only draw; targets of links and images
 *   kept        what stands between tags, the text of links, code itself
 *   changed     entities become their characters, an address its host, the marks of a list "-", blanks of any
 *               number and kind one blank
 *
 * What only looks like markup stays: "a < b", "List<String>", "<file>", "{id}", "*.txt", "2**3", "snake_case". A tag is
 * what has the name of an HTML element; where that is also a word that may stand for something ("<title>"), it is one
 * if it has attributes or the text closes it somewhere. What does not end ("<!--", "[a](b") is text. */
#ifndef WT_TEXT_MARKUP_H
#define WT_TEXT_MARKUP_H

#include "base/buffer.h"
#include "base/str.h"

/* Appends the text, at most as many bytes as it had, in time linear in these. Any bytes are read; UTF-8 stays so. */
void wt__markup_clean(struct str text, struct buffer *out);

/* Appends the text without HTML tags and entities, and keeps its lines, Markdown, comments, scripts and styles: for
 * texts that people and models read. Returns false, and appends nothing, if the text has no tag. Linear time. */
bool wt__markup_strip_html(struct str text, struct buffer *out);

#endif
