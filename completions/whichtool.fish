# fish completion for whichtool; made by `whichtool help --completions fish`
function __whichtool_follow
    set -l current (commandline -ct)
    set -l before (commandline -opc)
    set -l lines (command whichtool help --follow -- $before[2..-1] "$current" 2>/dev/null)
    switch "$lines[1]"
        case files
            __fish_complete_path "$current"
        case folders
            __fish_complete_directories "$current"
        case stores
            __fish_complete_suffix .wt
        case words
            printf '%s\n' $lines[2..-1]
    end
end
complete -c whichtool -f -a '(__whichtool_follow)'
