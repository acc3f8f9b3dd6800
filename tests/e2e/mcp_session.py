"""Runs a session of a file with an MCP server on standard input and output.

    python3 mcp_session.py SESSION COMMAND...

Lines of SESSION; `#` begins a comment:

    > {"id": 1, "method": ...}     sends a request ("jsonrpc" is added); the following lines check its answer
    < METHOD RESULT                the server requests METHOD meanwhile, and gets RESULT
    = PATH JSON                    the answer has this value at PATH, keys and indexes separated by dots
    ~ PATH TEXT                    the text at PATH, or the value as JSON, contains TEXT
    ? PATH                         PATH exists;  ! PATH: it does not
    @ PATH NAME                    $NAME stands for the value at PATH in later lines

At the end, standard input is closed, and the server must exit with 0 and only notifications left on standard output.
Each answer, and the end, may take two minutes.
"""
import json
import signal
import subprocess
import sys

MISSING = object()
WAIT_S = 120


def value_at(answer, path):
    for key in path.split(".") if path else []:
        if isinstance(answer, list) and key.lstrip("-").isdigit() and -len(answer) <= int(key) < len(answer):
            answer = answer[int(key)]
        elif isinstance(answer, dict) and key in answer:
            answer = answer[key]
        else:
            return MISSING
    return answer


def fails(kind, answer, path, wanted):
    value = value_at(answer, path)
    if kind in "?!":
        return (value is MISSING) == (kind == "?")
    if kind == "=":
        return value is MISSING or value != json.loads(wanted)
    text = value if isinstance(value, str) else json.dumps(value if value is not MISSING else None, ensure_ascii=False)
    return wanted not in text


class Session:
    def __init__(self, command):
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def send(self, message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.server.stdin.flush()

    def answer(self, identity, replies):
        """Returns the answer to the request; answers the server's own requests from the session."""
        while True:
            line = self.server.stdout.readline()
            if not line:
                sys.exit("the server has ended")
            message = json.loads(line)
            if "method" in message and "id" in message:
                if not replies or replies[0][0] != message["method"]:
                    sys.exit(f"the server asks what nobody expects: {line}")
                self.send({"id": message["id"], "result": json.loads(replies.pop(0)[1])})
            elif message.get("id") == identity:
                return message

    def end(self):
        self.server.stdin.close()
        lines = self.server.stdout.read().splitlines()
        left = "\n".join(line for line in lines if "id" in line and "id" in json.loads(line))
        if left or self.server.wait(60) != 0:
            sys.exit(f"it ended with {self.server.returncode} and left: {left[:200]}")


def steps(path):
    """Returns (number, request, replies, checks) of each request of the file."""
    found = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            kind, _, rest = line.rstrip("\n").partition(" ")
            if kind == ">":
                found.append((number, rest, [], []))
            elif kind == "<":
                found[-1][2].append(tuple(rest.split(" ", 1)))
            elif kind and not kind.startswith("#"):
                found[-1][3].append((number, kind, rest))
    return found


def limit_wait(what):
    def give_up(_number, _frame):
        sys.exit(f"waited {WAIT_S} s for: {what}")
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(WAIT_S)


def main():
    path, command = sys.argv[1], sys.argv[2:]
    session, names, wrong = Session(command), {}, 0
    for _, request, replies, checks in steps(path):
        for name, value in names.items():
            request = request.replace("$" + name, value)
        message = json.loads(request)
        limit_wait(f"the answer to {request}")
        session.send(message)
        answer = session.answer(message["id"], replies) if "id" in message else {}
        for line, kind, rest in checks:
            where, _, wanted = rest.partition(" ")
            if kind == "@":
                names[wanted] = value_at(answer, where)
            elif fails(kind, answer, where, wanted):
                wrong += 1
                print(f"{path}:{line}: {kind} {rest}\n    {json.dumps(answer, ensure_ascii=False)[:2000]}")
    limit_wait("the end of the server")
    session.end()
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
