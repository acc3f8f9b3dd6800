#include "base/random_digits.h"

#include <sys/random.h>

bool wt__random_digits(char *out, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bits[32];
    if (getrandom(bits, count / 2, 0) != (ssize_t)(count / 2))
        return false;
    for (size_t i = 0; i < count / 2; i++) {
        out[2 * i] = digits[bits[i] >> 4];
        out[2 * i + 1] = digits[bits[i] & 15];
    }
    out[count] = '\0';
    return true;
}
