#!/bin/bash
# The manual page and completion scripts in the repository are up to date, and the scripts load.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

expect 0 "manual page" help --man
cmp -s out "$source_root/man/whichtool.1" || fail "man/whichtool.1 is old: run whichtool help --man >man/whichtool.1"
! grep -Eq '(\\?-){2}(below|copies|without|foreign|made\\?-up)\b' out || fail "an option is shown as it was spelt before"
if have mandoc; then
    mandoc -T lint -W warning out >err 2>&1 || fail "mandoc complains"
    mandoc -T ascii out 2>err | sed 's/.\x08//g' >page
    what="the page shows"
    grep -q "whichtool find REQUEST" page || fail "no find in it"
else
    skip "no mandoc"
fi
while read -r shell file; do
    expect 0 "completions for $shell" help --completions "$shell"
    cmp -s out "$source_root/completions/$file" || fail "completions/$file is old"
    if have "$shell"; then "$shell" -n out 2>err || fail "$shell cannot read it"; else skip "no $shell"; fi
done <<'ROWS'
bash whichtool.bash
zsh _whichtool
fish whichtool.fish
ROWS

finish
