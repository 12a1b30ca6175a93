#!/usr/bin/env python3
"""terminal.py PESS POLICY: the program on a pseudo-terminal: the game that is played, the line of progress.

Each run types when it has seen what it waits for, so nothing depends on how fast the machine is.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time

PATIENCE = 120  # seconds for a text to appear
PESS, POLICY = sys.argv[1], sys.argv[2]
failures = []


def resize(descriptor, size):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))


class Run:
    def __init__(self, arguments, size=(80, 24), **environment):
        self.arguments, self.seen, self.code = arguments, b"", None
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            resize(0, size)
            kept = {k: v for k, v in os.environ.items() if k not in ("COLORTERM", "NO_COLOR", "TERM")}
            os.execve(PESS, ["pess", *arguments.split()], dict(kept, **{"TERM": "xterm-256color", **environment}))

    def read(self, seconds):
        """False at the end of the program."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return True
        try:
            text = os.read(self.terminal, 1 << 16)
        except OSError:
            return False
        self.seen += text
        return text != b""

    def wait_for(self, text):
        begun, text = time.monotonic(), text.encode()
        while text not in self.seen:
            if not self.read(1) or time.monotonic() - begun > PATIENCE:
                failures.append(f"{self.arguments}: {text!r} did not appear; the last was {self.seen[-300:]!r}")
                return self
        self.seen = self.seen[self.seen.index(text) + len(text):]
        return self

    def type(self, text):
        os.write(self.terminal, text.encode())
        return self

    def size(self, cols, rows):
        resize(self.terminal, (cols, rows))
        return self

    def send(self, number):
        os.kill(self.pid, number)
        return self

    def ends(self, code, lacks=None):
        begun = time.monotonic()
        while self.read(1):
            if time.monotonic() - begun > PATIENCE:
                failures.append(f"{self.arguments}: does not end")
                self.send(signal.SIGKILL)
                break
        found = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if found != code:
            failures.append(f"{self.arguments}: exit {found} instead of {code}: {self.seen[-300:]!r}")
        if lacks is not None and lacks.encode() in self.seen:
            failures.append(f"{self.arguments}: shows {lacks!r}")
        os.close(self.terminal)
        return self


OWN_SCREEN, BACK, TRUE_COLOUR, OF_256 = "\033[?1049h", "\033[?1049l", "\033[48;2;", "\033[48;5;"


def play():
    run = Run("play breakout --seed 1 --fps 60").wait_for(OWN_SCREEN).wait_for(OF_256).wait_for("score 0")
    for key in " adws\033[A\033[B\033[C\033[D\033OA\033[Zx":
        run.type(key)
    run.type("p").wait_for("paused").type("n").wait_for("step").type("p").type("+").type("=").type("-").type("r")
    run.wait_for("episode").send(signal.SIGTSTP).wait_for(BACK).send(signal.SIGCONT).wait_for(OWN_SCREEN)
    run.type("q").wait_for(BACK).ends(0)
    Run("play freeway --seed 1", COLORTERM="truecolor").wait_for(TRUE_COLOUR).type("\004").wait_for(BACK).ends(0)
    Run("play asterix --seed 1", TERM="xterm-direct").wait_for(TRUE_COLOUR).type("q").ends(0)
    Run("play seaquest --seed 1", NO_COLOR="1").wait_for("score 0").type("q").ends(0, lacks=OF_256)
    Run("play space_invaders --seed 1", TERM="dumb").wait_for("score 0").type("q").ends(0, lacks=OF_256)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        Run("play breakout --seed 1").wait_for("score 0").send(number).wait_for(BACK).ends(0)


def sizes():
    Run("play breakout --seed 1", size=(30, 10)).wait_for("\u2580").wait_for("score").type("q").wait_for(BACK).ends(0)
    Run("play breakout --seed 1", size=(14, 8)).wait_for("breakout").type("q").ends(0)
    run = Run("play breakout --seed 1", size=(100, 40)).wait_for("score 0").size(8, 3).wait_for("too small")
    run.size(40, 12).wait_for("score").type("q").wait_for(BACK).ends(0)
    Run("play breakout --seed 1", size=(8, 3)).wait_for("the board takes").ends(2)


def values_of_a_policy():
    Run(f"play breakout --policy {POLICY} --seed 1", size=(100, 40)).wait_for("score").wait_for("nothing").type("q") \
        .wait_for(BACK).ends(0)


def progress(folder):
    os.chdir(folder)
    slow = "env evaluate freeway --policy random --episodes 10000000 --threads 1"  # ten minutes of the fastest machine
    Run(slow).wait_for(" % (").wait_for(" left").type("\003").ends(-signal.SIGINT)
    quiet = Run(slow + " --quiet")
    begun = time.monotonic()
    while time.monotonic() - begun < 3:
        quiet.read(0.2)
    quiet.type("\003").ends(-signal.SIGINT, lacks=" % (")
    # what saves at Ctrl-C takes its line away, says how to go on and ends by itself
    kept = "experiment gridworld-data --trials 100000 --points 12 --threads 1 --out kept"
    Run(kept).wait_for(" % (").wait_for(" left").type("\003").wait_for("--resume").ends(6)


def names(folder):
    """Outputs that go to the terminal show the names of others too; to a pipe they go as they are."""
    os.chdir(folder)
    hostile, states = "a\033[2J", 9000  # the buffer of a file ends within a character of two bytes, or of three
    with open("names.csv", "w", encoding="utf-8") as log:
        log.write("state,action,next_state,reward\n" + f"{hostile},x,b\u009b2J,1\n")
        log.writelines(f"\u00fc\u20ac{i},x,{hostile},0\n" for i in range(states))
    Run("solve names.csv --gamma 0.9 -o policy.csv --quiet").ends(0)
    for output in ("-", "/dev/tty"):
        run = Run(f"act names.csv --policy policy.csv -o {output} --quiet").ends(0, lacks="\033")
        shown = run.seen.decode("utf-8", "replace")
        if "\ufffd" in shown or any(f",\u00fc\u20ac{i},x" not in shown for i in range(states)):
            failures.append(f"-o {output}: a character is cut where the buffer ended")
        if "a\\u001b[2J,x,1" not in shown:
            failures.append(f"-o {output}: a control character is not shown")
    Run("convert names.csv -o /dev/tty --format csv --quiet").ends(0, lacks="\033")


def main():
    play()
    sizes()
    values_of_a_policy()
    with tempfile.TemporaryDirectory(prefix="pess-terminal-") as folder:
        progress(folder)
        names(folder)
        os.chdir("/")
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
