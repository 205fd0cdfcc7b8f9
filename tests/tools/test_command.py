"""Command lines and what they run: allowed, asked, denied. Allowed: git status, git log, ls, echo,
cat, grep, cd, make test, true, wc, sort, head, tar, find, rg, sed, npm test, and what shells do by
themselves. Denied: rm, git push.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletree.tools.command import forbidden, matches, parse_command
from singletree.tools.programs import suggest

ALLOW = ["git status", "git log", "ls", "echo", "cat", "grep", "cd", "make test", "true", "wc"]
ALLOW += ["sort", "head", "tar", "find", "rg", "sed", "npm test"]
ALLOW += ["printf", "test", "export", "read", "unset", "set", "alias", "trap", "jobs", "hash"]
DENY = ["rm", "git push"]

RUNS = """
ls
ls -la
  ls   -la
ls	-la
\\ls
"ls"
'ls' -la
l\\s
l's'
ls \\
  -la
ls;
ls &
ls; ls
ls && git status
ls || true
ls | wc -l
ls |& wc -l
git status
git status --short
git log --oneline -5 -- 'src/*.py'
git log --format='%h $(rm x)'
echo "a && b"
echo 'a; rm x'
echo a\\;rm x
echo a # ; rm x
# rm x
ls # $(rm x)
echo "it is \\"quoted\\" \\$(rm x)"
echo '`rm x`'
echo "\\`rm x\\`"
echo $HOME
echo ${HOME}
echo "${HOME:-nothing}"
echo ${#HOME} $? $$ $1 $@
echo $((1 + 2 * (3 - 1)))
echo $(ls)
echo `ls`
echo "$(git status)"
echo "$(echo "$(ls)")"
echo *.py
echo {a,b}.py
cat < in.txt
cat <<< "text"
cat <<EOF
plain text; rm x
EOF
cat <<'EOF'
$(rm x) `rm x`
EOF
cat <<-EOF
	indented
	EOF
cat <<EOF && ls
$(git status)
EOF
ls 2>/dev/null
ls >/dev/null 2>&1
ls &>/dev/null
ls 2>&1 | grep x
ls >&2
ls 2>&-
(ls)
(ls; git status)
{ ls; git status; }
! ls
if ls; then echo yes; else echo no; fi
while true; do ls; done
until ls; do true; done
env ls
env -i ls
env LC_ALL=C ls
LC_ALL=C LANG=C ls
nice -n 5 ls
nohup ls
timeout 5 ls
timeout -k 1 -s KILL 5 ls
time ls
command ls
builtin echo x
exec ls
stdbuf -oL ls
setsid -w ls
nice nohup timeout 5 env LC_ALL=C ls
ls | xargs ls
ls | xargs -n 1 -P 4 echo
find . -name '*.py' -print0 | xargs -0 grep -n 'TODO'
ls | xargs -I {} echo {}
bash -c 'ls'
sh -c "git status && ls"
bash -lc 'ls; echo done'
bash -c "bash -c 'ls'"
bash -o pipefail -c 'ls | wc -l'
bash <<'EOF'
ls
EOF
eval ls
eval 'ls; git status'
find . -name '*.py'
find . -exec ls {} +
find . -exec grep -l x {} \\;
tar czf out.tgz src
tar xf in.tgz
cd sub && ls
make test
make test VERBOSE=1
cat <(ls)
cat a | sort | head -3
git log | cat
git --no-pager log
git log --oneline --output-indicator-new=x
git log -- --output=x
git log --since="$(ls)"
git log "--since=$(ls)"
git log $BRANCH
git log <(ls)
tar -tzf a.tgz --totals
sort -k 2 -t, --unique x
sed -n 1,3p x
sed 's/e/w/' x
sed -e's/e/w/' -ne '/we/p' x
sed -E -e 's/we/ew/g' src/we
make test VERBOSE=1 TARGET=all
npm test -- --prefix=x
rg --pretty foo src
rg -- --pre=x src
ls | xargs -n1 cat
cat $(ls)
cat < /dev/fd/3
bash -euo pipefail -c 'ls &>/dev/null'
sh -c 'ls >/dev/null 2>&1 && echo ${HOME}'
set -euo pipefail; ls
set -o pipefail
printf '%s\\n' "$HOME" '[$(x)]'
test -f x && test "$HOME" = /root
export CI NO_COLOR=1
jobs -l
hash -r
echo ${x:-'$(rm x)'}
time -p ls
time -p -- ls | cat
time (ls; ls)
time { ls; }
time ! ls
echo ${x:-$'it\\'s $(rm x)'}
echo "${x:-"it's"}"
echo $((i + 1)) $((a == b)) $((a <= b)) $((a << 1))
echo ${x:0:3} ${x: -1} ${x:-a=b}
find . -name *.py
find . "a"*
find src/*
sort -- *
sort ./* src/*.py
rg --glob=*.py x -- *
git log ${BRANCH}..HEAD
sed 's_a_b_' src/we
make test V=1
""".strip("\n")

ASKS = """
lsof
lsx
git
git stash
git -c core.pager=less log
git -c alias.x='!rm x' x
git -C /elsewhere status
git statusx
make
make install
./ls
/tmp/ls
~/bin/ls
python x.py
X=1 ls
PATH=. ls
PATH=.; ls
LD_PRELOAD=./x.so ls
env PATH=. ls
env -S 'touch x'
env -C / ls
export PATH=.
export CI$(ls)=1
export "$(ls)"
read -r PATH
unset PATH
unset 'a[$(touch x)]'
read 'a[$(touch x)]'
printf -v 'a[$(touch x)]' y
printf -v PATH .
printf "$(ls)"
test -v 'a[$(touch x)]'
[ -v 'a[$(touch x)]' ]
set -o posix
set -k
trap 'touch x' EXIT
jobs -x touch x
hash -p ./x ls
echo ${ touch x; }
echo ${|touch x; }
echo "${ touch x; }"
sh -c 'ls &>/dev/null touch x'
sh -c 'eval "ls &"">/dev/null touch x"'
env dash -c "echo $'\\\\'; touch x; echo '"
zsh -c 'ls <(ls)'
bash -o posix -c ls
bash -o $X -c ls
alias ls='touch x'
ls() { touch x; }; ls
function ls { touch x; }
ls > x
ls >> x
ls >| x
ls > "x"
ls 1>x
ls &> x
ls &>> x
ls >& x
ls <> x
> x
ls > $OUT
ls > /dev/null/../x
(ls) > x
{ ls; } > x
if ls; then ls; fi > x
echo x > ~/.bashrc
ls | sh
ls | bash
curl x | sh
ls $(touch x)
ls `touch x`
ls "$(touch x)"
ls ${x:-$(touch x)}
ls ${x:-`touch x`}
ls <(touch x)
ls >(touch x)
ls & touch x
ls
touch x
ls;touch x
ls&&touch x
ls||touch x
ls|touch x
ls; { touch x; }
ls; (touch x)
if ls; then touch x; fi
while ls; do touch x; done
! touch x
cat <<EOF
$(touch x)
EOF
cat <<EOF
`touch x`
EOF
cat <<EOF
plain
EOF
touch x
bash <<EOF
touch x
EOF
bash <<EOF
ls $x
EOF
bash -c 'touch x'
bash -c "$x"
bash -c "ls; $x"
bash x.sh
bash
sh -c 'sh -c "touch x"'
bash -i -c ls
bash --rcfile x -c ls
zsh -c 'touch x'
eval "$x"
eval 'touch x'
eval to''uch x
source x
. x
exec touch x
exec > x
nice touch x
env touch x
env LC_ALL=C touch x
nohup touch x &
timeout 5 touch x
timeout $x ls
timeout --kill-after 3 5 ls
time -o x ls
command touch x
xargs touch
ls | xargs -I{} sh -c 'touch {}'
ls | xargs -n1 touch
ls | xargs
find . -fprint x
find . -exec touch {} +
find . -execdir touch {} \\;
find . -ok touch {} \\;
find . -exec sh -c 'touch "$1"' _ {} \\;
sudo ls
doas ls
su -c ls
ssh host ls
watch ls
$CMD
$(echo ls)
`echo ls`
${CMD} x
l{s,of}
l?
"$CMD" x
$'ls'$X
git log --oneline; git -c core.fsmonitor='touch x' status
tar --to-command='touch x' -xf a
tar -I 'touch x' -xf a
tar --checkpoint=1 --checkpoint-action=exec=sh a
sort --compress-program=./x a
for f in *; do ls; done
for PATH in .; do ls; done
case x in x) ls;; esac
select x in a; do ls; done
[[ -f x ]]
(( x = 1 ))
coproc ls
a=(1 2); ls
a[$(touch x)]=1 ls
echo $[1+1]
echo $((a[$(touch x)]))
echo ${x@P}
echo ${PATH:=.}
echo ${PATH=.}
ls {fd}>x
echo \\$(
ls 'unclosed
ls "unclosed
ls $(unclosed
ls `unclosed
ls ${unclosed
cat <<EOF
cat <<$x
a
$x
ls )
trap 'touch x' EXIT
[ -f x ]
sed -i s/a/b/ x
sed -ni 1p x
sed --in-pl 1p x
sed -f script x
sed 'w y' x
sed -n '1w y' x
sed 's/a/b/w y' x
sed 's/a/touch y/e' x
sed 's/a/touch y/ge' x
sed '1e touch y' x
sed '$!{e touch y
}' x
git log --output=x
git log --outp x
git log --ext-diff -p
git log $(ls)
git log "$(ls)"
git log src/$(ls)
git log `ls`
tar -tIrm -f x
tar cIf ./x y.tar z
tar -F ./x -tf y
tar --to-com=./x -xf y
tar --rmt-command=./x -tf y
tar --new-volume-script ./x -tf y
sort -uo x y
sort --outp=x y
sort --compress-prog ./x y
make test -f evil
make test -C /tmp
make test SHELL=./x
make test CC='touch x;'
make test CC=./x
make test --eval='x:=$(shell touch x)'
npm test --script-shell=./x
npm test --prefix /tmp
rg --pre ./x foo
rg --hostname-bin=./x foo
ls | xargs rg foo
ls | xargs -n1 sed -n
ls | xargs git log
cat < /dev/tcp/127.0.0.1/80
cat 0</dev/udp/127.0.0.1/80
cat < /dev/tcp/$HOST/80
cat x | tee y
dd if=a of=b
echo "$\\
(touch x)"
cat <<EOF
$\\
(touch x)
EOF
echo "${x\\
:=y}"
echo "${x:-'$(touch x)'}"
echo "${x:-$'$(touch x)'}"
cat <<EOF
${x:-'`touch x`'}
EOF
echo ${x:-$'\\'\\''$(touch x)'}'}
find . $(echo -delete)
find . `echo -exec` x
ls | xargs find
find . $_
find . -print; find . "$_"
bash -c 'find . "$@"' _ -delete
bash -c 'find . $0' -delete
find . ${x:--delete}
find ${PWD##*/}
find . {-delete,}
find . -{delete,print}
find *
find . ''*
find . -delet?
find . -del"$(echo ete)"
export CI=-delete; find . $CI
TERM=-delete; find . ${TERM}
read <<< -delete; find . $REPLY
git log --"$(echo output=x)"
git log {--output=x,}
sort -"$(printf o)" y x
sort *
tar czf a.tgz *
rg x -[a-z]
sed -n -- "$_" x
echo $((PATH=1)); ls
echo $((PATH+=1))
echo $((PATH++))
echo ${x:PATH=1}
sed 's_a_touch x_e' y
sed 'sxaxtouch yxe' z
sed 's a touch e' y
sed '1s-a-touch x-e' y
sed -ee y
sed -n -ze'w x' y
sed --expr='e touch x' y
sed -e'sxaxtouch yxe' z
shuf -o x y
tree -o x
gcc -fplugin=./x.so y.c
gcc @x
make test .SHELLFLAGS=./x
make test SHELL::=./x
make test MAKEFILES=./x
make test 'X!=touch y'
""".strip("\n")

DENIES = """
rm x
rm -rf /
/bin/rm x
/usr/bin/rm x
\\rm x
'rm' x
r''m x
r\\m x
"rm" x
$'rm' x
git status && rm x
ls; rm x
ls & rm x
ls | rm x
ls $(rm x)
ls `rm x`
ls "$(rm x)"
ls
rm x
(rm x)
{ rm x; }
if rm x; then ls; fi
! rm x
X=1 rm x
env rm x
env -i X=1 rm x
env -u X rm x
nice -n 1 rm x
timeout 5 rm x
timeout --kill-after 3 5 rm x
nohup rm x &
command rm x
exec rm x
xargs rm
ls | xargs -n1 rm -f
find . -exec rm {} +
find . -delete
bash -c 'rm x'
bash -c "ls; rm x"
sh -c 'sh -c "rm x"'
sh -c 'ls &>/dev/null; rm x'
bash <<EOF
rm x
EOF
bash <<< 'rm x'
eval rm x
eval 'ls; rm x'
sudo rm x
sudo -u root rm x
doas rm x
su -c 'rm x'
ssh host 'rm x'
watch 'rm x'
busybox rm x
cat <<EOF
$(rm x)
EOF
cat <(rm x)
echo ${x:-$(rm x)}
rm x > y
git push
git push origin main
git -C /x push
git --no-pager push
git -c a=b push --force
ls && git push
time X=1 rm x
time -p (ls; rm x)
time { rm x; }
time ! rm x
LANG=C time rm x
for f in *; do rm $f; done
case x in x) rm x;; esac
f() { rm x; }; f
[[ -f x ]] && /bin/rm x
if [[ -f x ]]; then ls; git -C y push; fi
coproc rm x
echo ${x:=$(rm x)}
echo 'unclosed; rm x
taskset 1 rm x
setpriv --reuid 1 rm x
runuser -u nobody -- rm x
fish -c 'ls; rm x'
tmux new -d 'rm x'
toybox rm x
""".strip("\n")


def lines(table: str) -> list[str]:
    """One command a line; a heredoc, a backslash and a lone `ls` go on in the next ones."""
    got: list[str] = []
    rest = table.split("\n")
    while rest:
        line = rest.pop(0)
        if "<<" in line and "<<<" not in line and "((" not in line:
            mark = line.split("<<", 1)[1].lstrip("-").split()[0].strip("'")
            while rest and rest[0].strip("\t") != mark and mark in "\n".join(rest):
                line += "\n" + rest.pop(0)
            line += "\n" + rest.pop(0) if rest and rest[0].strip("\t") == mark else ""
            if got and rest and rest[0] == "touch x" and "plain" in line:
                line += "\n" + rest.pop(0)
        elif line.endswith("\\") or (line == "ls" and rest and rest[0] in ("touch x", "rm x")):
            line += "\n" + rest.pop(0)
        got.append(line)
    return got


def verdict(line: str) -> str:
    parsed = parse_command(line)
    if any(forbidden(pattern, parsed, line) for pattern in DENY):
        return "denied"
    covered = [any(matches(p, argv, line) for p in ALLOW) for argv in parsed.commands]
    return "runs" if all(covered) and not parsed.doubts else "asks"


@pytest.mark.parametrize("line", lines(RUNS))
def test_runs_unasked(line: str) -> None:
    assert verdict(line) == "runs", parse_command(line)


@pytest.mark.parametrize("line", lines(ASKS))
def test_is_asked_for(line: str) -> None:
    assert verdict(line) == "asks", parse_command(line)


@pytest.mark.parametrize("line", lines(DENIES))
def test_is_denied(line: str) -> None:
    assert verdict(line) == "denied", parse_command(line)


@pytest.mark.parametrize(
    "blank", ["\u00a0", "\u2028", "\u3000", "\r", "\v", "\f", "\0", "\u200b", "\u202e", "\x1b"]
)
def test_blanks_that_are_none_are_asked_for(blank: str) -> None:
    assert verdict(f"ls{blank}touch x") == "asks"
    assert verdict(f"ls {blank}") == "asks"
    assert verdict(f"echo '{blank}'") == "runs"


def test_too_long_or_too_deep_is_asked_for() -> None:
    assert verdict("ls " + "x" * 60_000) == "asks"
    assert verdict("ls " + "$(ls " * 60 + ")" * 60) == "asks"
    assert verdict("(" * 2000 + "ls" + ")" * 2000) == "asks"


@pytest.mark.parametrize(
    "line",
    [
        "echo " + "${x:-" * 5000,
        'echo "' + '${x:-"' * 5000,
        "env " * 9000 + "ls",
        "xargs " * 8000 + "ls",
        "nice --x " * 5000 + "ls",
        "sudo " * 9000 + "ls",
        "find . " + "-exec find . " * 3000 + "\\;",
        "ls;" * 9000,
    ],
)
def test_a_line_that_goes_on_and_on_is_asked_for(line: str) -> None:
    parsed = parse_command(line)
    assert parsed.doubts == ("it is too long or too deep",)
    assert sum(map(len, parsed.hidden)) < 400_000


def test_what_is_written_is_named() -> None:
    parsed = parse_command("ls > a 2>> 'b c' | cat >&d &>e > $X")
    assert parsed.writes == ("a", "b c", "d", "e", None)


@pytest.mark.parametrize(
    ("pattern", "line", "covers"),
    [
        ("git status", "git status -s", True),
        ("git status", "git statuses", False),
        ("git status *", "git status -s", True),
        ("'a b' c", "'a b' c d", True),
        ("*", "anything at all", True),
        ("=ls > x", " ls > x ", True),
        ("=ls > x", "ls > y", False),
        ("", "ls", False),
        ("'", "ls", False),
    ],
)
def test_patterns(pattern: str, line: str, covers: bool) -> None:
    argv = parse_command(line).commands[0]
    assert matches(pattern, argv, line) == covers


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("ls -la", "ls"),
        ("git status -s", "git status"),
        ("npm test", "npm test"),
        ("git -C x status", None),
        ("git", None),
        ("python x.py", None),
        ("bash x.sh", None),
        ("sudo ls", None),
        ("rm x", None),
        ("'my prog' x", "'my prog'"),
        ("npm $X", None),
        ("python3.11 x.py", None),
        ("/usr/bin/sqlite3 x", None),
        ("tee x", None),
        ("trap x EXIT", None),
        ("taskset 1 make", None),
        ("mawk x y", None),
        ("fish -c ls", None),
    ],
)
def test_what_is_worth_remembering(line: str, pattern: str | None) -> None:
    assert suggest(parse_command(line).commands[0]) == pattern


PIECES = st.sampled_from(
    ["ls", "rm", " ", "x", "'", '"', "\\", "$", "(", ")", "`", "{", "}", "<", ">", "&", ";", "|"]
)


@given(st.lists(PIECES, max_size=14).map("".join))
def test_nothing_makes_it_fail(line: str) -> None:
    parse_command(line)


@given(st.lists(PIECES, max_size=6).map("".join))
def test_quoting_hides_nothing_that_runs(text: str) -> None:
    quoted = "'" + text.replace("'", "'\\''") + "'"
    parsed = parse_command(f"echo {quoted}")
    assert parsed.commands == (("echo", text),)
    assert not parsed.doubts


@pytest.mark.parametrize("shell", ["/bin/sh", "dash", "/usr/bin/zsh"])
def test_another_shell_reads_otherwise(shell: str) -> None:
    assert parse_command("ls && git status", shell).doubts == ()
    for line in ("ls &>/dev/null touch x", "echo $'a'", "eval 'ls &''>/dev/null touch x'"):
        assert parse_command(line, shell).doubts != ()
        assert parse_command(line, "/opt/bash").doubts == ()


@pytest.mark.parametrize("shell", ["fish", "/usr/bin/pwsh", "nu"])
def test_a_shell_that_nobody_here_can_read(shell: str) -> None:
    assert parse_command("ls", shell).doubts != ()
