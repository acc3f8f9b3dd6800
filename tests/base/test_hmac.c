/* Tests of HMAC-SHA256 with the vectors of RFC 4231, and of the comparison of secrets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sha256.h"

static const struct {
    const char *name;
    size_t key_times, text_times; /* repetitions of key and text */
    const char *key, *text, *mac;
} rows[] = {
    {"case 1", 20, 1, "\x0b", "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
    {"case 2", 1, 1, "Jefe", "what do ya want for nothing?",
     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    {"case 3", 20, 50, "\xaa", "\xdd", "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
    {"case 6: key longer than a block", 131, 1, "\xaa", "Test Using Larger Than Block-Size Key - Hash Key First",
     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
};

static void macs_match_rfc_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char key[256] = "", hex[65];
        size_t key_len = 0;
        unsigned char mac[32];
        struct hmac hmac;
        for (size_t n = 0; n < rows[i].key_times; n++, key_len += strlen(rows[i].key))
            memcpy(key + key_len, rows[i].key, strlen(rows[i].key));
        wt__hmac_begin(&hmac, (struct str){key, key_len});
        for (size_t n = 0; n < rows[i].text_times; n++)
            wt__hmac_update(&hmac, rows[i].text, strlen(rows[i].text));
        wt__hmac_end(&hmac, mac);
        wt__sha256_hex(mac, hex);
        assert_string_equal(hex, rows[i].mac);
    }
}

static void compares_every_byte_of_secrets(void **state)
{
    char a[33], b[33];
    (void)state;
    memset(a, 'x', sizeof a);
    assert_true(wt__same_secret(a, a, sizeof a));
    assert_true(wt__same_secret(a, b, 0));
    for (size_t i = 0; i < sizeof b; i++) {
        memcpy(b, a, sizeof b);
        b[i] ^= 1;
        assert_false(wt__same_secret(a, b, sizeof b));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(macs_match_rfc_vectors),
        cmocka_unit_test(compares_every_byte_of_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
