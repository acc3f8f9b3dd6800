/* html.c: see html.h. The style sheet is part of each page. */
#include "text/html.h"

#include <string.h>

#include "base/memory.h"
#include "text/unicode.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n";

static const char style[] =
    "<style>\n"
    ":root{--paper:#fff;--ink:#1c2126;--faint:#5b6570;--grid:#dfe3e8;--s0:#2f6fb0;--s1:#c96f1c;--s2:#2b8a6b;"
    "--s3:#8a93a0}\n"
    "@media (prefers-color-scheme:dark){:root{--paper:#15181c;--ink:#e6e9ec;--faint:#a0a9b3;--grid:#31373e;"
    "--s0:#6aa8e6;--s1:#eba15a;--s2:#5cc3a0;--s3:#808a96}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:2rem 1.25rem 4rem;max-width:52rem;background:var(--paper);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .4rem}\n"
    "h2{font-size:1.25rem;margin:2.6rem 0 .5rem;padding-top:1.1rem;border-top:1px solid var(--grid)}\n"
    "h3{font-size:1rem;margin:1.6rem 0 .3rem}\n"
    "p{margin:.5rem 0 .8rem}\n"
    ".lead,figcaption,caption,summary{color:var(--faint)}\n"
    "figure{margin:1rem 0;break-inside:avoid}\n"
    "figcaption{font-size:.9rem;margin-top:.3rem}\n"
    ".scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;margin:.6rem 0}\n"
    "caption{text-align:left;font-size:.9rem;padding:.2rem 0}\n"
    "th,td{padding:.28rem .7rem .28rem 0;text-align:right;border-bottom:1px solid var(--grid);vertical-align:top}\n"
    "th{font-weight:600}\nth:first-child,th.words,td.words{text-align:left}\ntd.long{text-align:left;overflow-wrap:"
    "anywhere}\n"
    "td small{display:block;color:var(--faint);white-space:nowrap}\n"
    "td.best{font-weight:700}\ntd.best small{font-weight:400}\n"
    "details{margin:.8rem 0}\nsummary{cursor:pointer}\n"
    "pre{font-size:.8rem;white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0 1rem}\n"
    ".beside{display:grid;grid-template-columns:repeat(auto-fill,minmax(15.5rem,1fr));gap:.4rem 1.2rem}\n"
    ".beside figure{margin:.4rem 0}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;list-style:none;font-size:.9rem}\n"
    "svg{display:block;width:100%;height:auto;overflow:visible}\n"
    "svg.wide{min-width:26rem;max-width:41rem}\nsvg.mark{display:inline-block;width:.8em;height:.8em;margin-right:."
    "35em}\n"
    "svg text{fill:var(--ink);font:12.5px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif}\n"
    "svg .tick{fill:var(--faint);font-size:11px}\nsvg .middle{text-anchor:middle}\nsvg .end{text-anchor:end}\n"
    "svg .value{font-variant-numeric:tabular-nums}\n"
    ".grid{stroke:var(--grid)}\n.s0{fill:var(--s0)}\n.s1{fill:var(--s1)}\n.s2{fill:var(--s2)}\n.s3{fill:var(--s3)}\n"
    ".whisker{stroke:var(--ink);stroke-width:1.4;fill:none}\n.box{stroke:var(--ink);stroke-width:1}\n"
    ".median{stroke:var(--paper);stroke-width:3}\n.point{fill-opacity:.62}\n"
    "@media print{:root{--paper:#fff;--ink:#000;--faint:#444;--grid:#ccc;--s0:#2f6fb0;--s1:#c96f1c;--s2:#2b8a6b;"
    "--s3:#8a93a0}body{max-width:none;padding:0;font-size:10.5pt;print-color-adjust:exact;"
    "-webkit-print-color-adjust:exact}.scroll{overflow:visible}svg.wide{min-width:0}h2,h3{break-after:avoid}"
    "tr{break-inside:avoid}}\n"
    "</style>\n</head>\n<body>\n<main>\n";

void wt__html_head(struct buffer *out)
{
    wt__buffer_text(out, head);
    wt__buffer_text(out, "<title>");
}

void wt__html_body(struct buffer *out)
{
    wt__buffer_text(out, "</title>\n");
    wt__buffer_text(out, style);
}

void wt__html_end(struct buffer *out)
{
    wt__buffer_text(out, "</main>\n</body>\n</html>\n");
}

static void append_escaped(struct buffer *out, char c)
{
    static const char marks[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    const char *mark = c == 0 ? NULL : strchr(marks, c);
    if (mark)
        wt__buffer_text(out, entities[mark - marks]);
    else
        wt__buffer_char(out, (unsigned char)c < ' ' || c == 0x7f ? ' ' : c);
}

void wt__html_cut(struct buffer *out, struct str s, size_t most)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer sound = {0};
    size_t characters = 0, i = 0;
    wt__utf8_append(&sound, s);
    out->failed |= sound.failed;
    for (; i < sound.len; i++) {
        bool begins = ((unsigned char)sound.ptr[i] & 0xC0) != 0x80;
        if (begins && characters++ == most)
            break;
        append_escaped(out, sound.ptr[i]);
    }
    if (i < sound.len)
        wt__buffer_text(out, "\xe2\x80\xa6");
}

void wt__html_text(struct buffer *out, struct str s)
{
    wt__html_cut(out, s, SIZE_MAX);
}

void wt__html_element(struct buffer *out, const char *tag, const char *text)
{
    wt__buffer_printf(out, "<%s>", tag);
    wt__html_text(out, wt__str(text));
    wt__buffer_printf(out, "</%s>", tag);
}

void wt__html_table(struct buffer *out, const char *caption, const char *columns)
{
    wt__buffer_text(out, "<div class=\"scroll\"><table>");
    if (caption)
        wt__html_element(out, "caption", caption);
    wt__buffer_text(out, "<thead><tr>");
    for (const char *at = columns; *at;) {
        bool of_words = *at == '<';
        at += of_words;
        size_t len = strcspn(at, " ");
        wt__buffer_text(out, of_words ? "<th scope=\"col\" class=\"words\">" : "<th scope=\"col\">");
        for (size_t i = 0; i < len; i++)
            wt__buffer_char(out, at[i] == '_' ? ' ' : at[i]);
        wt__buffer_text(out, "</th>");
        at += len + (at[len] == ' ');
    }
    wt__buffer_text(out, "</tr></thead><tbody>\n");
}

void wt__html_row(struct buffer *out, const char *label)
{
    wt__buffer_text(out, "<tr><th scope=\"row\">");
    wt__html_text(out, wt__str(label));
    wt__buffer_text(out, "</th>");
}

void wt__html_table_end(struct buffer *out)
{
    wt__buffer_text(out, "</tbody></table></div>\n");
}
