#!/bin/bash
# An install below a user's own folder, as in README: the command is found in PATH; the manual page, completions and
# manifests are in their places; README's line builds the example from any folder, and it runs. DESTDIR is respected,
# and uninstall removes exactly the installed files.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
have cmake || { skip "no cmake"; exit 77; }
[ -n "${WT_TEST_BUILD:-}" ] || { skip "WT_TEST_BUILD does not name the build folder"; exit 77; }
sanitized=$(sed -n 's/^WT_SANITIZE:STRING=//p' "$WT_TEST_BUILD/CMakeCache.txt")
kind=$(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$WT_TEST_BUILD/CMakeCache.txt")

# The same build for another PREFIX: configured again, with unchanged programs.
catalogue
build=$work/build prefix=$HOME/.local
export TMPDIR=$work
cmake -S "$source_root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE="$kind" -DCMAKE_INSTALL_PREFIX="$prefix" >log 2>&1 ||
    { cat log; exit 1; }
cp -a "$WHICHTOOL" "$WT_TEST_BUILD"/libwhichtool.* "$build"/
put() { "$source_root/tools/install" "$@" >log 2>&1 || { cat log; exit 1; }; }
tree() { (cd "$1" && find . | LC_ALL=C sort); }

mkdir -p "$prefix/bin" "$prefix/share/man"
echo mine >"$prefix/bin/mine"
before=$(tree "$HOME")
put "$build" "$prefix"
for path in bin/whichtool include/whichtool.h include/whichtool/call.h include/whichtool/error.h include/whichtool/generate.h \
    include/whichtool/validator.h \
    lib/libwhichtool.a lib/libwhichtool.so lib/pkgconfig/whichtool.pc \
    share/man/man1/whichtool.1 share/whichtool/models/all-MiniLM-L6-v2.json share/bash-completion/completions/whichtool \
    share/zsh/site-functions/_whichtool share/fish/vendor_completions.d/whichtool.fish; do
    same "$path is there" yes "$([ -s "$prefix/$path" ] && echo yes)"
done

# The documented lines, from another folder.
line() { # PATTERN PAGE: prints the first matching line of the page
    grep -m 1 -- "$1" "$source_root/$2"
}
mkdir elsewhere
cd elsewhere || exit 1
path_line=$(line '^export PATH=' README.md)
same "README says how the command gets on the PATH" yes "$([ -n "$path_line" ] && echo yes)"
same "the command is found there" "$prefix/bin/whichtool" "$(eval "$path_line"; command -v whichtool)"
what="and runs"
(eval "$path_line"; whichtool version) >../out 2>../err || fail "exit $?"
pc_line=$(line '^export PKG_CONFIG_PATH=' README.md) cc_line=$(line '^cc find\.c ' README.md)
static_line=$(line '^cc find\.c .*--static' docs/library.md)
same "README and docs/library.md say how a program is built" yes "$([ -n "$pc_line" ] && [ -n "$cc_line" ] && [ -n "$static_line" ] && echo yes)"
if [ -n "$sanitized" ]; then
    skip "a sanitizer's runtime must come first in every process"
elif ! have pkg-config; then
    skip "no pkg-config"
else
    cp "$source_root/examples/find.c" .
    what="README's line builds the example" checks=$((checks + 1))
    (unset LD_LIBRARY_PATH; eval "$pc_line"; eval "$cc_line" && ./find "$work/weather.json" "rain") >../out 2>../err ||
        fail "exit $?"
    what="and the line for the static library" checks=$((checks + 1))
    (eval "$pc_line"; eval "$static_line" && ./find-static "$work/weather.json" "rain") >>../out 2>>../err || fail "exit $?"
    if have cmake; then # the lines of docs/library.md, after a project's own
        what="and the lines for CMake" checks=$((checks + 1))
        { printf 'cmake_minimum_required(VERSION 3.16)\nproject(find C)\nadd_executable(find find.c)\n'
          awk '/^```cmake/ {inside = 1; next} /^```/ {inside = 0} inside' "$source_root/docs/library.md"; } >CMakeLists.txt
        (eval "$pc_line"; cmake -B cmake . && cmake --build cmake && ./cmake/find "$work/weather.json" "rain") >>../out 2>>../err ||
            fail "exit $?"
    fi
fi
cd "$work" || exit 1
what="it runs, without more words to the loader" && { [ -n "$sanitized" ] || holds out "tools$"; }

put "$build" "$prefix" # over the same tree
model=$(find "$prefix/share/whichtool/models" -name config.json | head -1)
touch "$(dirname "$model")/packed-f32.wtm" # as the first use does in a writable folder
put --remove "$prefix"
same "exactly the installed and derived files are removed" "$before" "$(tree "$HOME")"
"$source_root/tools/install" --remove "$prefix" >out 2>err
same "a second time" 1 $?
what="it says so" && holds err "nothing to remove: there is no $prefix/share/whichtool/installed"

export DESTDIR=$work/stage
put "$build" "$prefix"
same "DESTDIR stands before it" "yes" "$([ -x "$DESTDIR$prefix/bin/whichtool" ] && echo yes)"
same "no other file is installed" "$before" "$(tree "$HOME")"
same "the pkg-config file names the place that it will have" "prefix=$prefix" "$(head -1 "$DESTDIR$prefix/lib/pkgconfig/whichtool.pc")"
touch "$DESTDIR$prefix/bin/mine"
put --remove "$prefix"
same "all except the file of another program" "./.local/bin/mine" "$(cd "$DESTDIR$HOME" && find . -type f)"
unset DESTDIR
"$source_root/tools/install" "$build" "$work/other" >out 2>err
same "a folder that was configured for another PREFIX" 1 $?
what="is refused" && holds err "$build was not configured for $work/other"
same "no file is installed" no "$([ -e other ] && echo yes || echo no)"

# Two installs in one clone at the same time, with different PREFIXes and a slow cmake.
mkdir -p clone stub
cp -r "$source_root/tools" clone/
cat >stub/cmake <<'STUB'
#!/bin/sh
set -eu
case $1 in
--preset)
    mkdir -p build
    for word; do prefix=${word#-DCMAKE_INSTALL_PREFIX=}; done
    echo "CMAKE_INSTALL_PREFIX:PATH=$prefix" >build/CMakeCache.txt
    touch build/build.ninja
    ;;
--build) sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=/I am of /p' build/CMakeCache.txt >build/program ;;
--install)
    prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' build/CMakeCache.txt)
    mkdir -p "${DESTDIR:-}$prefix/bin" "${DESTDIR:-}$prefix/share/whichtool"
    cp build/program "${DESTDIR:-}$prefix/bin/whichtool"
    ;;
esac
sleep .2
STUB
chmod +x stub/cmake
for each in 1 2 3; do
    PATH=$work/stub:$PATH clone/tools/install "$work/prefix$each" >"log$each" 2>&1 &
done
wait
for each in 1 2 3; do
    same "install $each of three at once put its own program" "I am of $work/prefix$each" "$(cat "prefix$each/bin/whichtool")"
    what="and noted it" && holds "prefix$each/share/whichtool/installed" "^f ./bin/whichtool$"
done
finish
