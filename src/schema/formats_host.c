/* formats_host.c: host names, IP addresses and mailboxes. Labels of internationalised names ("xn--...") are not
 * decoded. They only need to consist of the characters allowed in host names. */
#include "schema/formats_inside.h"
#include "text/unicode.h"

enum { HOST_BYTES = 253, LABEL_BYTES = 63, LOCAL_BYTES = 64, MAILBOX_BYTES = 254 };

bool wt__is_hostname(struct str text)
{
    size_t label = 0;
    if (text.len == 0 || text.len > HOST_BYTES || text.ptr[text.len - 1] == '.')
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool ends = i + 1 == text.len || text.ptr[i + 1] == '.';
        if (c == '.') {
            if (label == 0)
                return false;
            label = 0;
            continue;
        }
        bool alphanumeric = wt__is_letter(c) || wt__is_digit(c);
        if (!alphanumeric && (c != '-' || label == 0 || ends))
            return false;
        if (++label > LABEL_BYTES)
            return false;
    }
    return true;
}

bool wt__is_ipv4(struct str text)
{
    size_t at = 0;
    for (int part = 0; part < 4; part++) {
        size_t begin = at;
        int value = 0;
        for (; at < text.len && at < begin + 3 && wt__is_digit(text.ptr[at]); at++)
            value = value * 10 + (text.ptr[at] - '0');
        if (at == begin || value > 255 || (text.ptr[begin] == '0' && at > begin + 1))
            return false;
        if (part < 3 && (at >= text.len || text.ptr[at++] != '.'))
            return false;
    }
    return at == text.len;
}

/* Counts the groups of hexadecimal digits in a part of an IPv6 address. A final IPv4 address counts as two groups.
 * Returns -1 if the part is invalid. */
static int count_ipv6_groups(struct str text, bool may_end_in_ipv4)
{
    int count = 0;
    size_t at = 0;
    while (at < text.len) {
        size_t begin = at;
        while (at < text.len && wt__hex_digit(text.ptr[at]) >= 0)
            at++;
        if (at < text.len && text.ptr[at] == '.')
            return may_end_in_ipv4 && wt__is_ipv4((struct str){text.ptr + begin, text.len - begin}) ? count + 2 : -1;
        if (at == begin || at - begin > 4)
            return -1;
        count++;
        if (at == text.len)
            return count;
        if (text.ptr[at++] != ':' || at == text.len)
            return -1;
    }
    return count;
}

bool wt__is_ipv6(struct str text)
{
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.ptr[i] != ':' || text.ptr[i + 1] != ':')
            continue;
        int before = count_ipv6_groups((struct str){text.ptr, i}, false);
        int after = count_ipv6_groups((struct str){text.ptr + i + 2, text.len - i - 2}, true);
        return before >= 0 && after >= 0 && before + after <= 7;
    }
    return count_ipv6_groups(text, true) == 8;
}

static bool is_atom(char c, bool wide)
{
    return wt__is_letter(c) || wt__is_digit(c) || (c != '\0' && strchr("!#$%&'*+-/=?^_`{|}~", c)) ||
           (wide && (unsigned char)c >= 0x80);
}

static bool is_dot_atom(struct str text, bool wide)
{
    bool dot = true; /* true after a dot and at the start */
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '.' ? dot : !is_atom(text.ptr[i], wide))
            return false;
        dot = text.ptr[i] == '.';
    }
    return !dot;
}

static bool is_quoted(struct str text, bool wide)
{
    if (text.len < 2 || text.ptr[0] != '"' || text.ptr[text.len - 1] != '"')
        return false;
    for (size_t i = 1; i + 1 < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '\\' && i + 2 < text.len)
            i++;
        else if (c == '"' || c == '\\' || c < 0x20 || c == 0x7f || (c >= 0x80 && !wide))
            return false;
    }
    return true;
}

static bool is_mail_domain(struct str domain, bool wide)
{
    if (domain.len > 2 && domain.ptr[0] == '[' && domain.ptr[domain.len - 1] == ']') {
        struct str inner = {domain.ptr + 1, domain.len - 2};
        if (wt__str_starts(inner, STR("IPv6:")))
            return wt__is_ipv6((struct str){inner.ptr + 5, inner.len - 5});
        return wt__is_ipv4(inner);
    }
    if (!wide)
        return wt__is_hostname(domain);
    return domain.len <= HOST_BYTES && is_dot_atom(domain, true) && !memchr(domain.ptr, '=', domain.len);
}

static bool is_mailbox(struct str text, bool wide)
{
    size_t at = text.len;
    while (at > 0 && text.ptr[at - 1] != '@')
        at--;
    if (at == 0 || text.len > MAILBOX_BYTES || !wt__utf8_valid(text))
        return false;
    struct str local = {text.ptr, at - 1}, domain = {text.ptr + at, text.len - at};
    if (local.len > LOCAL_BYTES || !(is_dot_atom(local, wide) || is_quoted(local, wide)))
        return false;
    return is_mail_domain(domain, wide);
}

bool wt__is_email(struct str text)
{
    return is_mailbox(text, false);
}

bool wt__is_idn_email(struct str text)
{
    return is_mailbox(text, true);
}
