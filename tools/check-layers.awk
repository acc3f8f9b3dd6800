# check-layers.awk: reads the rules of layers.txt, then every file of the list. Each source line is read once, without
# comments and strings; the circles within rooms are checked last. Uses only features of mawk, gawk and busybox awk.

function pattern(glob) { # shell pattern to regular expression
    gsub(/\./, "[.]", glob)
    gsub(/\*/, ".*", glob)
    return glob
}

function complain(message) {
    print file ":" number ": " message
    complaints++
}

function allowed(places, path,    n, i, place) {
    n = split(places, place, " ")
    for (i = 1; i <= n; i++)
        if (index(path, place[i]) == 1)
            return 1
    return 0
}

function where(places) {
    return places == "" ? "nowhere" : "in " places " only"
}

function check_room(name) {
    if (name in layer)
        return 1
    complain("room " name " is not in tools/layers.txt")
    return 0
}

function check_quoted(path,    other) {
    if (path ~ /^whichtool(\.h$|\/)/) # public
        return
    if (path !~ /\//) {
        complain("\"" path "\" is not relative to src")
        return
    }
    other = room_of(path)
    if (file ~ /h$/)
        add_edge(file, path, "an include")
    if (check_room(other) && other != room && layer[other] >= layer[room])
        complain("room " room " (layer " layer[room] ") includes " path " (layer " layer[other] ")")
}

function check_header(name,    i) {
    for (i = 1; i <= headers; i++)
        if (name ~ ("^(" header[i] ")$") && !allowed(header_at[i], file))
            complain("<" name "> belongs " where(header_at[i]))
}

# Checks one identifier; called: "(" follows. Streams are named, functions are called.
function check_word(word, called,    i) {
    for (i = 1; i <= calls; i++)
        if (word ~ ("^(" call[i] ")$") && (called || word ~ /^std(out|err)$/) && !allowed(call_at[i], file))
            complain(word " belongs " where(call_at[i]))
}

# Returns the line without comments and strings; in_comment carries over lines.
function code_of(line,    out, close_at) {
    out = ""
    while (line != "") {
        if (in_comment) {
            close_at = index(line, "*/")
            if (close_at == 0)
                return out
            line = substr(line, close_at + 2)
            in_comment = 0
        } else if (match(line, /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'|\/\*|\/\//)) {
            out = out substr(line, 1, RSTART - 1) " "
            if (substr(line, RSTART, 2) == "//")
                return out
            in_comment = substr(line, RSTART, 2) == "/*"
            line = substr(line, RSTART + RLENGTH)
        } else {
            return out line
        }
    }
    return out
}

# A global name is defined if its statement, which begins in column 0, reaches "{" or "=" before ";".
function note_names(line, code,    word, rest) {
    if (line ~ /^[A-Za-z_]/ && !in_head) {
        in_head = code !~ /^(static|typedef|extern)[^A-Za-z_0-9]/
        head = ""
    }
    if (in_head) {
        head = head " " code
        if (match(head, /[{=;]/)) {
            in_head = 0
            if (substr(head, RSTART, 1) != ";" && match(head, /wt_[A-Za-z_0-9]* *[[(={]/)) {
                word = substr(head, RSTART, RLENGTH)
                sub(/ *[[(={]$/, "", word)
                defined_in[word] = file
            }
        }
    }
    rest = code
    while (match(rest, /(^|[^A-Za-z_0-9])wt_[A-Za-z_0-9]*/)) {
        word = substr(rest, RSTART, RLENGTH)
        sub(/^[^A-Za-z_]/, "", word)
        rest = substr(rest, RSTART + RLENGTH)
        if (!((file, word) in seen)) {
            seen[file, word] = 1
            user[++uses] = file
            used[uses] = word
        }
    }
}

function room_of(path) {
    sub(/\/.*/, "", path)
    return path
}

function add_edge(from, to, why) {
    if (from != to && room_of(from) == room_of(to) && !allowed(rows_of[from], to) && !((from, to) in edge)) {
        edge[from, to] = why
        edge_from[++edges] = from
        edge_to[edges] = to
    }
}

# Removes edges that neither lead to a circle nor come from one until there are no more; the remaining ones form circles.
function check_circles(    i, gone, left, leads, comes) {
    for (i = 1; i <= uses; i++)
        if (used[i] in defined_in)
            add_edge(user[i], defined_in[used[i]], used[i])
    do {
        gone = 0
        split("", leads)
        split("", comes)
        for (i = 1; i <= edges; i++)
            if (!taken[i]) {
                leads[edge_from[i]] = 1
                comes[edge_to[i]] = 1
            }
        for (i = 1; i <= edges; i++)
            if (!taken[i] && (!(edge_to[i] in leads) || !(edge_from[i] in comes)))
                gone += taken[i] = 1
    } while (gone)
    for (i = 1; i <= edges; i++)
        if (!taken[i]) {
            print edge_from[i] ": " edge[edge_from[i], edge_to[i]] " of " edge_to[i] " is part of a circle of files"
            complaints++
        }
}

function check_line(line,    code, word) {
    if (!in_comment && line ~ /^[ \t]*#[ \t]*include[ \t]*["<]/) {
        sub(/^[^"<]*/, "", line)
        word = substr(line, 2)
        sub(/[">].*/, "", word)
        if (substr(line, 1, 1) == "<")
            check_header(word)
        else
            check_quoted(word)
        sub(/^.[^">]*[">]/, "", line)
    }
    code = code_of(line)
    if (file ~ /c$/)
        note_names(line, code)
    if (code !~ words)
        return
    while (match(code, /[A-Za-z_][A-Za-z_0-9]*/)) {
        word = substr(code, RSTART, RLENGTH)
        code = substr(code, RSTART + RLENGTH)
        check_word(word, code ~ /^[ \t]*\(/)
    }
}

# layers.txt
/^[ \t]*(#|$)/ { next }
$1 == "layer" {
    for (i = 3; i <= NF; i++)
        layer[$i] = $2
    next
}
$1 == "header" || $1 == "call" {
    places = $0
    sub(/^[^:]*:[ \t]*/, "", places)
    for (i = 2; i <= NF && $i != ":"; i++) {
        if ($1 == "header") {
            header[++headers] = pattern($i)
            header_at[headers] = places
        } else {
            call[++calls] = pattern($i)
            call_at[calls] = places
            words = words (words == "" ? "" : "|") pattern($i)
        }
    }
    next
}
$1 == "table" {
    rows_of[$2] = $0
    sub(/^[^:]*:[ \t]*/, "", rows_of[$2])
    next
}
{ file = FILENAME; number = FNR; complain("not a rule: " $0) }

END {
    while ((getline file < list) > 0) {
        room = room_of(file)
        number = 1
        in_comment = in_head = 0
        files++
        if (!check_room(room))
            continue
        while ((getline line < (root "/" file)) > 0) {
            check_line(line)
            number++
        }
        close(root "/" file)
    }
    check_circles()
    if (!files) {
        print root ": no sources"
        complaints++
    }
    exit complaints > 0
}
