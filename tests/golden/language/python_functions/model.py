"""What the scripts here call: without NumPy."""
import os
import signal
import sys

calls = 0


def together(n, x, b, s):
    return f"{s} {n + 1} {x / 2} {not b}"


def divide(a, b):
    return a // b, a % b


def count():
    global calls
    calls += 1
    return calls


def grow(n):
    return 10**n


def inverse(x):
    return 1 / x


def mean_inverse(n):
    return sum(inverse(i) for i in range(n)) / n


def stop(n):
    raise SystemExit(n)


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def say(text):
    sys.stdout.write(f"said {text}\n")  # at once, also where Python does not buffer


def caused():
    try:
        inverse(0)
    except ZeroDivisionError as error:
        raise ValueError("no inverse") from error


class Body:
    @staticmethod
    def weight(mass):
        return mass * 9.81
