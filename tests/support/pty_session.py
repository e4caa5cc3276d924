"""A program on a terminal of its own, and what a person would see there.

The screen understands what `raddle` draws with: text, carriage return, newline, ESC [ A C J K H m, and modes, which it
leaves aside. Everything else is a fault of the test's, told as such.
"""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

SEQUENCE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])")


class Screen:
    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.lines = [[]]  # all that was ever there; the last `rows` are to be seen
        self.row, self.column = 0, 0
        self.rest = ""

    def top(self):
        return max(0, len(self.lines) - self.rows)

    def feed(self, text):
        text = self.rest + text
        self.rest = ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = SEQUENCE.match(text, at)
                if not found:
                    if len(text) - at < 12:
                        self.rest = text[at:]
                        return
                    raise AssertionError(f"unknown escape sequence {text[at:at + 12]!r}")
                self.control(found[1], found[2])
                at = found.end()
            else:
                self.put(text[at])
                at += 1

    def put(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row += 1
            while self.row >= len(self.lines):
                self.lines.append([])
        elif character == "\a":
            pass
        else:
            if self.column >= self.columns:
                self.put("\r")
                self.put("\n")
            line = self.lines[self.row]
            line.extend(" " * (self.column + 1 - len(line)))
            line[self.column] = character
            self.column += 1

    def control(self, numbers, letter):
        count = int(numbers) if numbers.isdigit() else 1
        if letter in "mhl":
            return
        if letter == "A":
            self.row = max(self.top(), self.row - count)
        elif letter == "C":
            self.column = min(self.columns - 1, self.column + count)
        elif letter == "J" and numbers in ("", "0"):
            del self.lines[self.row][self.column:]
            del self.lines[self.row + 1:]
        elif letter == "J":
            self.lines = self.lines[:self.top()] + [[]]
            self.row, self.column = len(self.lines) - 1, 0
        elif letter == "K":
            del self.lines[self.row][self.column:]
        elif letter == "H":
            self.row, self.column = self.top(), 0
        else:
            raise AssertionError(f"unknown escape sequence ESC [ {numbers} {letter}")

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines).rstrip("\n")


class PtySession:
    """Use as a context manager: the program is killed at the end."""

    def __init__(self, command, columns=80, rows=24, folder=None, environment=None):
        self.screen = Screen(columns, rows)
        self.raw = ""
        self.decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        environment = {**os.environ, "TERM": "xterm", **(environment or {})}
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder or ".")
            self.set_size(0, columns, rows)
            os.execve(command[0], command, environment)
        self.status = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        os.close(self.terminal)

    @staticmethod
    def set_size(terminal, columns, rows):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.screen.columns, self.screen.rows = columns, rows
        self.set_size(self.terminal, columns, rows)

    def send(self, text):
        os.write(self.terminal, text.encode())

    def read(self, seconds):
        """Shows what comes within this time. @return False: the program has closed its terminal."""
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            return False
        if not data:
            return False
        text = self.decoder.decode(data)  # a character may come in two parts
        self.raw += text
        self.screen.feed(text)
        return True

    def wait_for(self, is_there, what, seconds=20):
        end = time.monotonic() + seconds
        while not is_there():
            if time.monotonic() > end:
                raise AssertionError(f"{what}: did not come; the screen:\n{self.screen.text()}")
            if not self.read(0.05) and not is_there():
                raise AssertionError(f"{what}: the program ended before; the screen:\n{self.screen.text()}")

    def wait_for_text(self, text, seconds=20):
        self.wait_for(lambda: text in self.screen.text(), repr(text), seconds)

    def wait_for_prompt(self, seconds=20):
        """The last line is an empty prompt, and the cursor stands behind it."""
        self.wait_for(lambda: re.fullmatch(r"\d+> ?", self.screen.text().split("\n")[-1] or "-"), "a prompt", seconds)

    def wait_for_end(self, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.02)
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                while self.read(0) and select.select([self.terminal], [], [], 0)[0]:
                    pass
                self.status = os.waitstatus_to_exitcode(status)
                return self.status
        raise AssertionError(f"the program does not end; the screen:\n{self.screen.text()}")
