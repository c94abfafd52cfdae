# fish completion for roofcast: asks the program for what could come next.
function __roofcast_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    for line in ($words[1] complete -- $words[2..-1] "$typed" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$typed"
        else
            echo $line
        end
    end
end
complete --command roofcast --no-files --arguments '(__roofcast_complete)'
