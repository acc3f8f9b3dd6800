#!/bin/bash
# An installed tree is complete: the command runs from it, a program builds against its pkg-config file with the shared
# and the static library, the shared library exports the public functions only, and each header compiles alone in C11
# and C++17.
set -u
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }

DESTDIR=$tree cmake --install "$WT_TEST_BUILD" >"$tree/log" 2>&1 || { cat "$tree/log"; exit 1; }
pc=$(find "$tree" -name whichtool.pc)
library=$(find "$tree" -name 'libwhichtool.so')
[ -n "$pc" ] || { echo "FAILED: no whichtool.pc"; exit 1; }
[ -n "$library" ] || { echo "FAILED: no libwhichtool.so"; exit 1; }
libraries=$(dirname "$library")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$tree
PKG_CONFIG_PATH=$(dirname "$pc")
includes=$(dirname "$(find "$tree" -name whichtool.h)")
headers=$(cd "$includes" && find whichtool.h whichtool -name '*.h')
version=$(sed -n 's/^#define WT_VERSION "\(.*\)"/\1/p' "$includes/whichtool/error.h")

# A sanitizer's runtime must be loaded first in every process, so these builds skip the linked programs.
sanitized=$(sed -n 's/^WT_SANITIZE:STRING=//p' "$WT_TEST_BUILD/CMakeCache.txt")
source_file=$tree/tools.json
cat >"$source_file" <<'JSON'
{"tools": [{"name": "book_table", "description": "Reserves a table at a restaurant.",
            "inputSchema": {"type": "object", "properties": {"guests": {"type": "integer"}}}},
           {"name": "play_track", "description": "Plays a song on a speaker.", "inputSchema": {"type": "object"}}]}
JSON

command=$(find "$tree" -path '*/bin/whichtool')
[ -x "$command" ] || fail "no command"
"$command" version | grep -qF "$version" || fail "the command does not say its version, $version"
[ "$(pkg-config --modversion whichtool)" = "$version" ] || fail "whichtool.pc says another version"
[ -z "$(pkg-config --print-requires-private whichtool)" ] || fail "whichtool.pc needs the files of others"
case $(pkg-config --cflags whichtool) in *-D*) fail "whichtool.pc defines what others use" ;; esac
[ -e "$libraries/libwhichtool.so.${version%%.*}" ] || fail "no libwhichtool.so.${version%%.*}"
readelf -d "$library" | grep -q "SONAME.*libwhichtool.so.${version%%.*}\]" || fail "the SONAME is not libwhichtool.so.${version%%.*}"
[ -n "$(find "$tree" -name 'all-MiniLM-L6-v2.json')" ] || fail "no manifest of the default model"
[ -z "$(find "$tree" -path '*/whichtool-static-v1/model.safetensors')" ] || fail "the built-in model is there twice"
[ -x "$(find "$tree" -path '*/share/whichtool/readers/python_api.py')" ] || fail "no readers of documentation"
[ -n "$(find "$tree" -path '*/man1/whichtool.1*')" ] || fail "no manual page"
[ "$(find "$tree" -path '*complet*' -o -path '*site-functions*' | grep -c '/_\{0,1\}whichtool[^/]*$')" -eq 3 ] ||
    fail "completions are not there for three shells"

# The library exports every WT_API function and no other symbol.
for header in $headers; do cc -w -fpreprocessed -dD -E -P "$includes/$header"; done | grep -v '^#' | tr '\n' ' ' | grep -o 'WT_API [^(;]*(' |
    sed 's/.*[ *]\(wt_[a-z0-9_]*\)($/\1/' | sort -u >"$tree/declared"
nm -D --defined-only "$library" | awk '$2 ~ /[A-Z]/ && $2 != "A" { print $3 }' | grep -v '^__\(asan\|odr_asan\|gcov\)\|^mangle_path$' |
    sort -u >"$tree/exported"
if [ -z "$sanitized" ]; then
    diff "$tree/declared" "$tree/exported" >"$tree/diff" || { cat "$tree/diff"; fail "header and library differ (< declared, > exported)"; }
fi

# shellcheck disable=SC2046 # pkg-config prints words
if [ -z "$sanitized" ]; then
    cc -std=c11 "$WT_TEST_SOURCE/examples/find.c" $(pkg-config --cflags --libs whichtool) -o "$tree/shared" ||
        fail "the example does not build with the shared library"
    # Our library is static, its dependencies are shared, as whichtool.pc names them.
    cc -std=c11 "$WT_TEST_SOURCE/examples/find.c" \
        $(pkg-config --static --cflags --libs whichtool | sed 's/-lwhichtool/-l:libwhichtool.a/') -o "$tree/static" ||
        fail "the example does not build with the static library"
    readelf -d "$tree/static" | grep -q 'NEEDED.*libwhichtool' && fail "the static program needs the shared library"
    for program in shared static; do
        LD_LIBRARY_PATH=$libraries "$tree/$program" "$source_file" "a table for four" >"$tree/out" 2>&1 ||
            { cat "$tree/out"; fail "$program: the example failed"; }
        head -n 1 "$tree/out" | grep -qx '2 tools' || fail "$program: did not import two tools"
        sed -n 2p "$tree/out" | grep -q 'book_table' || fail "$program: book_table is not the first hit"
        LD_LIBRARY_PATH=$libraries "$tree/$program" "$tree/absent" "x" >"$tree/out" 2>"$tree/err" && fail "$program: an absent file was no error"
        grep -q 'absent' "$tree/err" || fail "$program: the error does not name the file"
    done
fi

for language in "-x c -std=c11" "-x c++ -std=c++17"; do
    for header in $headers; do
        # shellcheck disable=SC2086,SC2046 # words
        echo "#include <$header>" | cc $language -pedantic -Wall -Wextra -Werror $(pkg-config --cflags whichtool) \
            -fsyntax-only - || fail "$header does not stand alone: $language"
    done
done
exit "$failed"
