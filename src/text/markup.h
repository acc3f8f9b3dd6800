/* markup.h: removes HTML and Markdown from descriptions of tools. Tags and link targets would otherwise count as words
 * of the tool (the request "p" would match <p>) and use up the encoder's input length.
 *
 *   removed    tags, comments, <script> and <style> with their content; characters of emphasis, headings, quotations,
 *              tables and code; horizontal rules; targets of links and images
 *   kept       text between tags, link texts, code
 *   replaced   entities by their characters, addresses by their host, list marks by "-", runs of blanks by one blank
 *
 * Text that only looks like markup is kept: "a < b", "List<String>", "<file>", "{id}", "*.txt", "2**3",
 * "snake_case". Text in "<...>" is a tag only if it has the name of an HTML element. If the name is also a common
 * word ("<title>"), a start tag must have attributes, end with "/>", or have an end tag somewhere in the text.
 * Unterminated markup ("<!--", "[a](b") is kept. */
#ifndef WT_TEXT_MARKUP_H
#define WT_TEXT_MARKUP_H

#include "base/buffer.h"
#include "base/str.h"

/* Appends the text without markup, which is never longer than the input. Takes linear time. Accepts any bytes; valid
 * UTF-8 stays valid. */
void wt__markup_clean(struct str text, struct buffer *out);

/* Appends the text without HTML tags, and with entities replaced by their characters. Keeps Markdown, comments, scripts
 * and styles, because people and models read the result. Replaces runs of blanks by one blank, or by one line break if
 * they contain one. Returns false, and appends no text, if the input has no tag. Takes linear time. */
bool wt__markup_strip_html(struct str text, struct buffer *out);

#endif
