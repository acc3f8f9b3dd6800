/* markup.h: removes markup from descriptions, which are often HTML, Markdown, or both. Otherwise tags and link targets
 * would become words of the tool (the request "p" matched <p>), and would use up the encoder's input length.
 *
 *   removed    tags, comments, <script> and <style> with their content; characters of emphasis, headings, quotations,
 *              tables and code; rules; targets of links and images
 *   kept       text between tags, link texts, code
 *   replaced   entities by their characters, addresses by their host, list marks by "-", runs of blanks by one blank
 *
 * Text that only looks like markup is kept: "a < b", "List<String>", "<file>", "{id}", "*.txt", "2**3", "snake_case". A
 * tag must have the name of an HTML element. If the name is also a common word ("<title>"), the tag must have
 * attributes or a matching end tag. Unterminated markup ("<!--", "[a](b") is kept. */
#ifndef WT_TEXT_MARKUP_H
#define WT_TEXT_MARKUP_H

#include "base/buffer.h"
#include "base/str.h"

/* Appends the clean text, never longer than the input, in linear time. Accepts any bytes; valid UTF-8 stays valid. */
void wt__markup_clean(struct str text, struct buffer *out);

/* Appends the text without HTML tags and entities. Keeps lines, Markdown, comments, scripts and styles, because people
 * and models read the text. Returns false, and appends no text, if the input has no tag. Linear time. */
bool wt__markup_strip_html(struct str text, struct buffer *out);

#endif
